-- run_insert: adds runs; a run of an id that exists is left alone.
-- params: id:id project:id task:id task_revision:int trigger:id? trigger_revision:int? origin:text nominal_at_ms:int? queued_at_ms:int priority:int retry_of:id? requested_by:text? input:text?
-- columns: -
-- many: yes
WITH v AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::uuid[], $6::bigint[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::uuid[], $12::text[], $13::text[])
    WITH ORDINALITY AS v(id, project_id, task_id, task_revision, trigger_id, trigger_revision, origin, nominal_at_ms, queued_at_ms, priority, retry_of, requested_by, input, ord)),
i AS (
  INSERT INTO pawl.runs (id, project_id, task_id, task_revision, trigger_id, trigger_revision, origin, nominal_at_ms, queued_at_ms, priority, retry_of, requested_by, input)
  SELECT id, project_id, task_id, task_revision, trigger_id, trigger_revision, origin, nominal_at_ms, queued_at_ms, priority, retry_of, requested_by, input FROM v ORDER BY id
  ON CONFLICT (id) DO NOTHING
  RETURNING id)
SELECT v.ord FROM v JOIN i ON i.id = v.id;
