-- task_move_runs: moves the waiting runs of a task to another pool.
-- params: task:id pool:id
-- columns: moved:int
-- only: postgres
SELECT pawl.move_runs($1, $2);
