-- rearm_quarantined: arms what has been put aside for long enough.
-- params: -
-- columns: -
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now),
c AS MATERIALIZED (
  SELECT s.trigger_id FROM pawl.trigger_schedules s
  JOIN pawl.triggers g ON g.id = s.trigger_id AND g.state = 'active'
  JOIN pawl.tasks k ON k.id = g.task_id AND k.state = 'active' AND k.paused_at_ms IS NULL
  WHERE s.quarantine_until_at_ms <= (SELECT now FROM t) AND NOT s.armed AND s.next_fire_at_ms IS NOT NULL AND s.paused_at_ms IS NULL
  ORDER BY s.trigger_id
  FOR NO KEY UPDATE OF s SKIP LOCKED)
UPDATE pawl.trigger_schedules s
SET armed = true, quarantined_at_ms = NULL, quarantine_until_at_ms = NULL, state_version = s.state_version + 1, updated_at_ms = pawl.now_ms()
FROM c
WHERE s.trigger_id = c.trigger_id AND s.quarantine_until_at_ms <= (SELECT now FROM t) AND NOT s.armed AND s.next_fire_at_ms IS NOT NULL
  AND s.paused_at_ms IS NULL;
