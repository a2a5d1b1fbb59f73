-- runs_ready_of_task_before: runs of a task in ready below an id, newest first.
-- params: task:id before:id limit:int
-- columns: run:id reason:text
SELECT run_id, '' FROM pawl.ready WHERE task_id = $1 AND run_id < $2 ORDER BY run_id DESC LIMIT $3;
