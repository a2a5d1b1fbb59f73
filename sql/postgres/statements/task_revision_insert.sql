-- task_revision_insert: adds a revision of a task.
-- params: task:id revision:int digest:text spec:text now_ms:int
-- columns: -
INSERT INTO pawl.task_revisions (task_id, revision, digest, spec, created_at_ms) VALUES ($1, $2, $3, $4, $5);
