-- finish_releasable: parked rows of a task that wait for its limits, in the order of hand-out.
-- Locked: whoever else moves one of them is left to it.
-- params: task:id limit:int
-- columns: run:id trigger_born:int
SELECT run_id, trigger_born FROM pawl.parked WHERE task_id = $1 AND reason IN ('limit', 'overlap') ORDER BY order_key, run_id LIMIT $2
FOR UPDATE SKIP LOCKED;
