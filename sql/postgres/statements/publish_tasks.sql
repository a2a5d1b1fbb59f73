-- publish_tasks: the tasks of a project, archived ones too, in lock order.
-- params: project:id
-- columns: task:id name:text state:text owner_mark:text? revision:int digest:text max_active:int serial:int paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text?
SELECT id, name, state, owner_mark, revision, digest, max_active, serial, paused_at_ms, pause_until_at_ms, pause_reason, paused_by
FROM pawl.tasks WHERE project_id = $1 ORDER BY id;
