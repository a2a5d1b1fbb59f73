-- task_pause: pauses a task, or changes end and reason of its pause.
-- params: task:id until_at_ms:int? reason:text? paused_by:text
-- columns: -
UPDATE pawl.tasks SET paused_at_ms = coalesce(paused_at_ms, pawl.now_ms()), pause_until_at_ms = $2, pause_reason = $3, paused_by = $4, updated_at_ms = pawl.now_ms()
WHERE id = $1 AND state = 'active';
