-- unfinished_of_task: unfinished runs of a task that nobody has cancelled yet.
-- params: task:id limit:int
-- columns: run:id
SELECT run_id FROM (
  SELECT run_id FROM ready WHERE task_id = ?1
  UNION ALL SELECT run_id FROM parked WHERE task_id = ?1
  UNION ALL SELECT l.run_id FROM leased l WHERE l.task_id = ?1 AND NOT EXISTS (SELECT 1 FROM cancels c WHERE c.run_id = l.run_id)) h
LIMIT ?2;
