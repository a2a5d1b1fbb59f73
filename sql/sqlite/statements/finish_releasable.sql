-- finish_releasable: parked rows of a task that wait for its limits, in the order of hand-out.
-- params: task:id limit:int
-- columns: run:id trigger_born:int
-- only: sqlite
SELECT run_id, trigger_born FROM parked WHERE task_id = ?1 AND reason IN ('limit', 'overlap') ORDER BY order_key, run_id LIMIT ?2;
