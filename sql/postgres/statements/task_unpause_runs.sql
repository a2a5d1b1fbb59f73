-- task_unpause_runs: makes the runs ready that a pause of their task had parked.
-- params: task:id
-- columns: moved:int
-- only: postgres
SELECT pawl.unpause_runs($1);
