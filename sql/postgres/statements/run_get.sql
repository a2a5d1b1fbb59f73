-- run_get: a run with its state, which is derived.
-- params: run:id
-- columns: run:id task_id:id trigger_id:id? retry_of:id? project:text task:text trigger:text? origin:text requested_by:text? reason:text? nominal_at_ms:int? queued_at_ms:int started_at_ms:int? finished_at_ms:int? state:text? attempts:int? exit_code:int? signal:int? task_revision:int
SELECT id, task_id, trigger_id, retry_of, project, task, trigger_name, origin, requested_by, reason, nominal_at_ms, queued_at_ms, started_at_ms, finished_at_ms,
  state, attempts, exit_code, signal, task_revision
FROM pawl.v_runs WHERE id = $1;
