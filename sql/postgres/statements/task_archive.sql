-- task_archive: takes a task away; its history, id and revisions stay.
-- params: task:id
-- columns: -
UPDATE pawl.tasks SET state = 'archived', owner_mark = NULL, paused_at_ms = NULL, pause_until_at_ms = NULL, pause_reason = NULL, paused_by = NULL,
  updated_at_ms = pawl.now_ms()
WHERE id = $1 AND state = 'active';
