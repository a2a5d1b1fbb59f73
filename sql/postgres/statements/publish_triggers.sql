-- publish_triggers: the triggers of a project with the cursor of each, archived ones too, in lock order.
-- params: project:id
-- columns: trigger:id task:id name:text state:text revision:int digest:text armed:int cursor_ms:int? due_at_ms:int? paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text?
SELECT g.id, g.task_id, g.name, g.state, g.revision, g.digest, s.armed, s.next_fire_at_ms, s.due_at_ms, s.paused_at_ms, s.pause_until_at_ms, s.pause_reason, s.paused_by
FROM pawl.tasks t
JOIN pawl.triggers g ON g.task_id = t.id
JOIN pawl.trigger_schedules s ON s.trigger_id = g.id
WHERE t.project_id = $1 ORDER BY g.id;
