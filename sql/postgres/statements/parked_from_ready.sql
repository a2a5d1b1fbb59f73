-- parked_from_ready: parks a ready attempt: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read; what somebody else holds (a user's cancel) is left to him.
-- params: run:id attempt:int reason:text detail:text?
-- columns: -
INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, reason, detail)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, $3, $4 FROM pawl.ready WHERE run_id = $1 AND attempt = $2
FOR UPDATE SKIP LOCKED;
