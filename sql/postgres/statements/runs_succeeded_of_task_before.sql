-- runs_succeeded_of_task_before: runs of a task below an id that ended well, newest first.
-- params: task:id before:id limit:int
-- columns: run:id reason:text
SELECT r.id, '' FROM pawl.runs r
WHERE r.task_id = $1 AND r.id < $2 AND EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = r.id AND a.state = 'succeeded')
ORDER BY r.id DESC LIMIT $3;
