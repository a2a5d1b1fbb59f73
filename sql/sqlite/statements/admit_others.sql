-- admit_others: unfinished trigger-born runs of a task, the waiting ones first.
-- params: task:id
-- columns: run:id leased:int
SELECT run_id, 0 FROM ready WHERE task_id = ?1 AND trigger_born = 1
UNION ALL SELECT run_id, 0 FROM parked WHERE task_id = ?1 AND trigger_born = 1
UNION ALL SELECT run_id, 1 FROM leased WHERE task_id = ?1 AND trigger_born = 1;
