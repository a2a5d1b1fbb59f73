-- claim_due: due rows in the order of their due instants; one writer needs no claim lease, so this only reads.
-- params: budget:int
-- columns: trigger:id task:id project:id trigger_revision:int task_revision:int cursor_ms:int due_at_ms:int last_scheduled_ms:int last_admitted_ms:int first_claimed_ms:int? made_up:int state_version:int claim_version:int acquired_at_ms:int
-- only: sqlite
WITH t AS MATERIALIZED (SELECT pawl_now_ms() AS now)
SELECT s.trigger_id, s.task_id, s.project_id, s.trigger_revision, s.task_revision, s.next_fire_at_ms, s.due_at_ms, s.last_scheduled_at_ms,
  s.last_admitted_at_ms, s.first_claimed_at_ms, s.made_up, s.state_version, s.claim_version, (SELECT now FROM t)
FROM trigger_schedules s
WHERE s.armed = 1 AND s.due_at_ms <= (SELECT now FROM t)
ORDER BY s.due_at_ms, s.trigger_id
LIMIT ?1;
