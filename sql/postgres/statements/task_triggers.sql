-- task_triggers: the triggers of a task by name, archived ones too when asked for.
-- params: task:id archived_too:int
-- columns: trigger:id name:text state:text revision:int spec:text armed:int cursor_ms:int? due_at_ms:int? last_scheduled_at_ms:int paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? quarantine_until_at_ms:int? quarantine_reason:text?
SELECT g.id, g.name, g.state, g.revision, v.spec, s.armed, s.next_fire_at_ms, s.due_at_ms, s.last_scheduled_at_ms, s.paused_at_ms, s.pause_until_at_ms, s.pause_reason,
  s.quarantine_until_at_ms, s.quarantine_reason
FROM pawl.triggers g
JOIN pawl.trigger_schedules s ON s.trigger_id = g.id
JOIN pawl.trigger_revisions v ON v.trigger_id = g.id AND v.revision = g.revision
WHERE g.task_id = $1 AND ($2 = 1 OR g.state = 'active') ORDER BY g.name;
