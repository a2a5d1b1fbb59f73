-- quarantine_set: puts a trigger aside; the wait doubles from a minute to an hour.
-- params: trigger:id state_version:int reason:text
-- columns: -
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
UPDATE pawl.trigger_schedules
SET armed = false, quarantined_at_ms = t.now, quarantine_until_at_ms = t.now + least(60000::bigint << least(quarantine_count, 6), 3600000),
  quarantine_count = quarantine_count + 1, quarantine_reason = $3, state_version = state_version + 1, claim_version = claim_version + 1,
  claim_owner = NULL, claim_token = NULL, claim_acquired_at_ms = NULL, claim_expires_at_ms = NULL, updated_at_ms = t.now
FROM t
WHERE trigger_id = $1 AND state_version = $2 AND armed;
