-- admit_settle: moves the cursor of a row that is still as it was claimed.
-- params: trigger:id state_version:int cursor_ms:int next_ms:int? due_at_ms:int? settled_ms:int admitted_ms:int made_up:int
-- columns: -
UPDATE pawl.trigger_schedules
SET next_fire_at_ms = $4, due_at_ms = $5, armed = ($4 IS NOT NULL), last_scheduled_at_ms = greatest(last_scheduled_at_ms, $6),
  last_admitted_at_ms = greatest(last_admitted_at_ms, $7), made_up = $8, first_claimed_at_ms = NULL, quarantine_count = 0,
  state_version = state_version + 1, updated_at_ms = pawl.now_ms()
WHERE trigger_id = $1 AND state_version = $2 AND next_fire_at_ms = $3 AND armed;
