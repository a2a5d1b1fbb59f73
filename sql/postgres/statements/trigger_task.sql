-- trigger_task: the task of a trigger.
-- params: trigger:id
-- columns: task:id
SELECT task_id FROM pawl.triggers WHERE id = $1;
