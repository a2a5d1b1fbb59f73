-- admit_overlap: unfinished trigger-born runs of a task: held by a worker, and not.
-- params: task:id
-- columns: task:id active:int waiting:int
SELECT ?1, (SELECT count(*) FROM leased WHERE task_id = ?1 AND trigger_born = 1),
  (SELECT count(*) FROM ready WHERE task_id = ?1 AND trigger_born = 1) + (SELECT count(*) FROM parked WHERE task_id = ?1 AND trigger_born = 1);
