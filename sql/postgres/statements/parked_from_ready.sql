-- parked_from_ready: parks a ready attempt: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read; what somebody else holds (a user's cancel) is left to him. A pause or a
-- limit that is none any more parks nobody: the candidate was read before.
-- params: run:id attempt:int reason:text detail:text?
-- columns: -
INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, reason, detail)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, $3, $4
FROM pawl.ready r
WHERE run_id = $1 AND attempt = $2 AND EXISTS (SELECT 1 FROM pawl.tasks t WHERE t.id = r.task_id
  AND CASE $3 WHEN 'paused' THEN t.paused_at_ms IS NOT NULL WHEN 'limit' THEN t.max_active > 0 WHEN 'overlap' THEN t.serial ELSE true END)
FOR UPDATE OF r SKIP LOCKED;
