-- trigger_task: the task of a trigger.
-- params: trigger:id
-- columns: task:id
SELECT task_id FROM triggers WHERE id = ?1;
