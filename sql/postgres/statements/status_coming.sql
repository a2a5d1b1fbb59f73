-- status_coming: what is due next.
-- params: limit:int
-- columns: due_at_ms:int task:text trigger:text
SELECT s.due_at_ms, t.name, g.name FROM pawl.trigger_schedules s JOIN pawl.triggers g ON g.id = s.trigger_id JOIN pawl.tasks t ON t.id = s.task_id
WHERE s.armed ORDER BY s.due_at_ms, s.trigger_id LIMIT $1;
