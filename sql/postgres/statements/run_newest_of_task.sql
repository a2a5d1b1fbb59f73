-- run_newest_of_task: the run of a task with the highest id.
-- params: task:id
-- columns: run:id
SELECT id FROM pawl.runs WHERE task_id = $1 ORDER BY id DESC LIMIT 1;
