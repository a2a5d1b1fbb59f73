-- unfinished_of_task: unfinished runs of a task that nobody has cancelled yet.
-- params: task:id limit:int
-- columns: run:id
SELECT run_id FROM (
  SELECT run_id FROM pawl.ready WHERE task_id = $1
  UNION ALL SELECT run_id FROM pawl.parked WHERE task_id = $1
  UNION ALL SELECT l.run_id FROM pawl.leased l WHERE l.task_id = $1 AND NOT EXISTS (SELECT 1 FROM pawl.cancels c WHERE c.run_id = l.run_id)) h
LIMIT $2;
