-- schedules_of_task: the ids of the triggers of a task that are not archived, in lock order.
-- params: task:id
-- columns: trigger:id
SELECT s.trigger_id FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id WHERE s.task_id = ?1 AND g.state = 'active' ORDER BY s.trigger_id;
