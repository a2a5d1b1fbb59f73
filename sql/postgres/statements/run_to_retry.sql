-- run_to_retry: what a retry of a run takes over.
-- params: run:id
-- columns: project:id task:id task_state:text task_revision:int trigger:id? trigger_revision:int? nominal_at_ms:int? input:text? task_name:text
SELECT r.project_id, r.task_id, t.state, t.revision, r.trigger_id, r.trigger_revision, r.nominal_at_ms, r.input, t.name
FROM pawl.runs r JOIN pawl.tasks t ON t.id = r.task_id WHERE r.id = $1;
