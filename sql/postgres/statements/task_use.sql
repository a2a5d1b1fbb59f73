-- task_use: unfinished runs of a task.
-- params: task:id
-- columns: waiting:int running:int running_since_ms:int?
SELECT (SELECT count(*) FROM pawl.ready WHERE task_id = $1) + (SELECT count(*) FROM pawl.parked WHERE task_id = $1),
  (SELECT count(*) FROM pawl.leased WHERE task_id = $1), (SELECT min(coalesce(started_at_ms, acquired_at_ms)) FROM pawl.leased WHERE task_id = $1);
