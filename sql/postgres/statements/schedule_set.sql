-- schedule_set: writes a schedule that was read as of state_version; every outstanding claim on it is dead afterwards. clear_quarantine: 1 forgets a quarantine.
-- params: trigger:id state_version:int trigger_revision:int task_revision:int armed:int cursor_ms:int? due_at_ms:int? last_scheduled_at_ms:int first_claimed_at_ms:int? made_up:int paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text? clear_quarantine:int
-- columns: -
UPDATE pawl.trigger_schedules SET trigger_revision = $3, task_revision = $4, armed = $5 <> 0, next_fire_at_ms = $6, due_at_ms = $7, last_scheduled_at_ms = $8,
  first_claimed_at_ms = $9, made_up = $10, paused_at_ms = $11, pause_until_at_ms = $12, pause_reason = $13, paused_by = $14,
  quarantined_at_ms = CASE WHEN $15 = 1 THEN NULL ELSE quarantined_at_ms END,
  quarantine_until_at_ms = CASE WHEN $15 = 1 THEN NULL ELSE quarantine_until_at_ms END,
  quarantine_count = CASE WHEN $15 = 1 THEN 0 ELSE quarantine_count END,
  quarantine_reason = CASE WHEN $15 = 1 THEN NULL ELSE quarantine_reason END,
  state_version = state_version + 1, claim_version = claim_version + 1,
  claim_owner = NULL, claim_token = NULL, claim_acquired_at_ms = NULL, claim_expires_at_ms = NULL, updated_at_ms = pawl.now_ms()
WHERE trigger_id = $1 AND state_version = $2;
