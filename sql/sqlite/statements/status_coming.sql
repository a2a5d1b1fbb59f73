-- status_coming: what is due next.
-- params: limit:int
-- columns: due_at_ms:int task:text trigger:text
SELECT s.due_at_ms, t.name, g.name FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id JOIN tasks t ON t.id = s.task_id
WHERE s.armed = 1 ORDER BY s.due_at_ms, s.trigger_id LIMIT ?1;
