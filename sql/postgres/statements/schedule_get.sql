-- schedule_get: a trigger's schedule with what decides whether it may be armed.
-- params: trigger:id
-- columns: task:id project:id trigger_revision:int task_revision:int armed:int cursor_ms:int? due_at_ms:int? last_scheduled_at_ms:int last_admitted_at_ms:int first_claimed_at_ms:int? made_up:int state_version:int paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text? quarantined_at_ms:int? trigger_state:text task_state:text task_paused_at_ms:int?
SELECT s.task_id, s.project_id, s.trigger_revision, s.task_revision, s.armed, s.next_fire_at_ms, s.due_at_ms, s.last_scheduled_at_ms, s.last_admitted_at_ms,
  s.first_claimed_at_ms, s.made_up, s.state_version, s.paused_at_ms, s.pause_until_at_ms, s.pause_reason, s.paused_by, s.quarantined_at_ms,
  g.state, t.state, t.paused_at_ms
FROM pawl.trigger_schedules s
JOIN pawl.triggers g ON g.id = s.trigger_id
JOIN pawl.tasks t ON t.id = s.task_id
WHERE s.trigger_id = $1;
