-- admit_settle: moves the cursor of a row that stands as it was claimed, and ends the claim.
-- params: trigger:id state_version:int cursor_ms:int claim_version:int next_ms:int? due_at_ms:int? settled_ms:int admitted_ms:int made_up:int
-- columns: -
UPDATE trigger_schedules
SET next_fire_at_ms = ?5, due_at_ms = ?6, armed = (?5 IS NOT NULL), last_scheduled_at_ms = max(last_scheduled_at_ms, ?7),
  last_admitted_at_ms = max(last_admitted_at_ms, ?8), made_up = ?9, first_claimed_at_ms = NULL, quarantine_count = 0,
  state_version = state_version + 1, updated_at_ms = pawl_now_ms()
WHERE trigger_id = ?1 AND state_version = ?2 AND next_fire_at_ms = ?3 AND claim_version = ?4 AND armed = 1;
