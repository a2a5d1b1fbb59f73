-- claim_release: gives back what was claimed with a token whose answer never came. Bytes of that claim that are still under way find nothing.
-- params: owner:text token:id
-- columns: -
-- only: postgres
WITH c AS MATERIALIZED (
  SELECT s.trigger_id FROM pawl.trigger_schedules s
  WHERE s.armed AND s.due_at_ms <= (SELECT pawl.now_ms()) AND s.claim_token = $2 AND s.claim_owner = $1
  ORDER BY s.trigger_id
  FOR NO KEY UPDATE OF s)
UPDATE pawl.trigger_schedules s
SET claim_owner = NULL, claim_token = NULL, claim_acquired_at_ms = NULL, claim_expires_at_ms = NULL, claim_version = s.claim_version + 1,
  state_version = s.state_version + 1, updated_at_ms = pawl.now_ms()
FROM c
WHERE s.trigger_id = c.trigger_id AND s.claim_token = $2 AND s.claim_owner = $1;
