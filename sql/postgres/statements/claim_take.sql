-- claim_take: leases due rows that nobody holds to a replica, the longest due first.
-- What others are just claiming is skipped; a row whose lease has run out by the server's clock is taken over. The instant of the first claim
-- stays until the occurrence is settled, so what was claimed in time is on time whoever finishes it.
-- params: budget:int owner:text token:id lease_ms:int
-- columns: trigger:id task:id project:id trigger_revision:int task_revision:int cursor_ms:int due_at_ms:int last_scheduled_ms:int
-- columns: last_admitted_ms:int first_claimed_ms:int? made_up:int state_version:int claim_version:int acquired_at_ms:int
-- only: postgres
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now),
c AS MATERIALIZED (
  SELECT s.trigger_id FROM pawl.trigger_schedules s
  WHERE s.armed AND s.due_at_ms <= (SELECT now FROM t) AND (s.claim_expires_at_ms IS NULL OR s.claim_expires_at_ms <= (SELECT now FROM t))
  ORDER BY s.due_at_ms, s.trigger_id
  LIMIT $1
  FOR NO KEY UPDATE OF s SKIP LOCKED)
UPDATE pawl.trigger_schedules s
SET claim_owner = $2, claim_token = $3, claim_version = s.claim_version + 1, state_version = s.state_version + 1,
  claim_acquired_at_ms = (SELECT now FROM t), claim_expires_at_ms = (SELECT now FROM t) + $4,
  first_claimed_at_ms = coalesce(s.first_claimed_at_ms, (SELECT now FROM t)), updated_at_ms = (SELECT now FROM t)
FROM c
WHERE s.trigger_id = c.trigger_id AND s.armed AND s.due_at_ms <= (SELECT now FROM t)
  AND (s.claim_expires_at_ms IS NULL OR s.claim_expires_at_ms <= (SELECT now FROM t))
RETURNING s.trigger_id, s.task_id, s.project_id, s.trigger_revision, s.task_revision, s.next_fire_at_ms, s.due_at_ms, s.last_scheduled_at_ms,
  s.last_admitted_at_ms, s.first_claimed_at_ms, s.made_up, s.state_version, s.claim_version, s.claim_acquired_at_ms;
