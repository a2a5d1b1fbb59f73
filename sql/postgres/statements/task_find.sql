-- task_find: a task by its name, archived or not.
-- params: project:id name:text
-- columns: task:id state:text revision:int paused_at_ms:int?
SELECT id, state, revision, paused_at_ms FROM pawl.tasks WHERE project_id = $1 AND name = $2;
