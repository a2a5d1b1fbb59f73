-- quarantine_set: puts a trigger aside; the wait doubles from a minute to an hour.
-- params: trigger:id state_version:int reason:text
-- columns: -
UPDATE trigger_schedules
SET armed = 0, quarantined_at_ms = pawl_now_ms(), quarantine_until_at_ms = pawl_now_ms() + min(60000 << min(quarantine_count, 6), 3600000),
  quarantine_count = quarantine_count + 1, quarantine_reason = ?3, state_version = state_version + 1, claim_version = claim_version + 1,
  updated_at_ms = pawl_now_ms()
WHERE trigger_id = ?1 AND state_version = ?2 AND armed = 1;
