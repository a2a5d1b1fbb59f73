-- runs_of_task_before: runs of a task below an id, newest first.
-- params: task:id before:id limit:int
-- columns: run:id trigger:id? origin:text
SELECT id, trigger_id, origin FROM pawl.runs WHERE task_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3;
