-- admit_overlap: unfinished trigger-born runs of a task: held by a worker, and not.
-- params: task:id
-- columns: active:int waiting:int
SELECT (SELECT count(*) FROM pawl.leased WHERE task_id = $1 AND trigger_born),
  (SELECT count(*) FROM pawl.ready WHERE task_id = $1 AND trigger_born) + (SELECT count(*) FROM pawl.parked WHERE task_id = $1 AND trigger_born);
