-- ready_from_leased: gives a granted attempt that never started back: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read.
-- params: run:id attempt:int lease_version:int
-- columns: -
INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, pawl.now_ms()
FROM pawl.leased WHERE run_id = $1 AND attempt = $2 AND lease_version = $3 AND started_at_ms IS NULL
FOR UPDATE;
