-- task_release_runs: makes as many of the runs ready that limits of their task had parked as there is room for. Takes the task's gate.
-- params: task:id
-- columns: moved:int
-- only: postgres
SELECT pawl.release_runs($1);
