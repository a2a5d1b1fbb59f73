-- unpause_copy: makes the runs ready that a pause of their task had parked: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read.
-- params: task:id
-- columns: -
INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, pawl.now_ms()
FROM pawl.parked WHERE task_id = $1 AND reason = 'paused' ORDER BY run_id
FOR UPDATE;
