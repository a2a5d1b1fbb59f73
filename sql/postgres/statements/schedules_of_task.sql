-- schedules_of_task: the ids of the triggers of a task that are not archived, in lock order.
-- They are locked.
-- params: task:id
-- columns: trigger:id
SELECT s.trigger_id FROM pawl.trigger_schedules s JOIN pawl.triggers g ON g.id = s.trigger_id WHERE s.task_id = $1 AND g.state = 'active' ORDER BY s.trigger_id
FOR NO KEY UPDATE OF s;
