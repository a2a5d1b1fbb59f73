-- admit_others: unfinished trigger-born runs of a task, the waiting ones first.
-- params: task:id
-- columns: run:id leased:int
SELECT run_id, 0 FROM pawl.ready WHERE task_id = $1 AND trigger_born
UNION ALL SELECT run_id, 0 FROM pawl.parked WHERE task_id = $1 AND trigger_born
UNION ALL SELECT run_id, 1 FROM pawl.leased WHERE task_id = $1 AND trigger_born;
