-- task_resume: ends the pause of a task.
-- params: task:id
-- columns: -
UPDATE pawl.tasks SET paused_at_ms = NULL, pause_until_at_ms = NULL, pause_reason = NULL, paused_by = NULL, updated_at_ms = pawl.now_ms()
WHERE id = $1 AND paused_at_ms IS NOT NULL;
