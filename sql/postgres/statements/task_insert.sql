-- task_insert: makes a task.
-- params: task:id project:id name:text owner_mark:text? digest:text max_active:int serial:int now_ms:int
-- columns: -
INSERT INTO pawl.tasks (id, project_id, name, state, owner_mark, revision, digest, max_active, serial, created_at_ms, updated_at_ms)
VALUES ($1, $2, $3, 'active', $4, 1, $5, $6, $7 <> 0, $8, $8);
