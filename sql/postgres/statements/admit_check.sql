-- admit_check: the fence of admissions: the clock, for each row that is as it was claimed, whose lease lasts, and that may be admitted.
-- The rows are held by then; this is a later statement, so it sees what was committed while they were waited for.
-- params: trigger:id trigger_revision:int task_revision:int state_version:int cursor_ms:int claim_version:int claim_token:id?
-- params: acquired_at_ms:int
-- columns: now_ms:int
-- many: yes
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT v.ord, (SELECT now FROM t)
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[], $8::bigint[])
  WITH ORDINALITY AS v(trigger_id, trigger_revision, task_revision, state_version, cursor_ms, claim_version, claim_token, acquired_at_ms, ord)
JOIN pawl.trigger_schedules s ON s.trigger_id = v.trigger_id
JOIN pawl.projects p ON p.id = s.project_id
WHERE s.trigger_revision = v.trigger_revision AND s.task_revision = v.task_revision AND s.state_version = v.state_version
  AND s.next_fire_at_ms = v.cursor_ms AND s.claim_version = v.claim_version AND s.claim_token = v.claim_token
  AND s.claim_acquired_at_ms = v.acquired_at_ms AND s.claim_acquired_at_ms <= (SELECT now FROM t)
  AND s.claim_expires_at_ms > (SELECT now FROM t) AND s.armed AND p.state = 'active'
ORDER BY v.ord;
