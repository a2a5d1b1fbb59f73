-- doctor_armed: armed triggers with the birth of their revision, above an id.
-- params: after:id limit:int
-- columns: trigger:id task:text name:text revision:int cursor_ms:int created_at_ms:int
SELECT s.trigger_id, t.name, g.name, s.trigger_revision, s.next_fire_at_ms, v.created_at_ms
FROM pawl.trigger_schedules s
JOIN pawl.triggers g ON g.id = s.trigger_id
JOIN pawl.tasks t ON t.id = s.task_id
JOIN pawl.trigger_revisions v ON v.trigger_id = s.trigger_id AND v.revision = s.trigger_revision
WHERE s.armed AND s.trigger_id > $1 ORDER BY s.trigger_id LIMIT $2;
