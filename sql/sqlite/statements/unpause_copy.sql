-- unpause_copy: makes the runs ready that a pause of their task had parked: the insert half of the move.
-- params: task:id
-- columns: -
-- only: sqlite
INSERT INTO ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, pawl_now_ms()
FROM parked WHERE task_id = ?1 AND reason = 'paused';
