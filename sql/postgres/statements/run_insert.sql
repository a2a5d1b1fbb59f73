-- run_insert: adds a run; a run of that id that exists is left alone.
-- params: id:id project:id task:id task_revision:int trigger:id? trigger_revision:int? origin:text nominal_at_ms:int? queued_at_ms:int priority:int retry_of:id? requested_by:text? input:text?
-- columns: -
INSERT INTO pawl.runs (id, project_id, task_id, task_revision, trigger_id, trigger_revision, origin, nominal_at_ms, queued_at_ms, priority, retry_of, requested_by, input)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (id) DO NOTHING;
