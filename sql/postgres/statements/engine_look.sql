-- engine_look: all that a replica looks for in its rhythm, in one read: the clock, whether something is due that nobody holds, the next due
-- instant, the end of a pause or a quarantine, and whether a worker has something to do. ORDER BY keeps each on its index where EXISTS would be
-- planned as a walk through the table.
-- params: -
-- columns: now_ms:int due:int next_due_at_ms:int? rearm_at_ms:int? ready:int wake_at_ms:int? cancels:int newest_ms:int? expired:int
-- only: postgres
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT (SELECT now FROM t),
  (SELECT s.due_at_ms FROM pawl.trigger_schedules s WHERE s.armed AND s.due_at_ms <= (SELECT now FROM t)
    AND (s.claim_expires_at_ms IS NULL OR s.claim_expires_at_ms <= (SELECT now FROM t)) ORDER BY s.due_at_ms LIMIT 1) IS NOT NULL,
  (SELECT s.due_at_ms FROM pawl.trigger_schedules s WHERE s.armed AND s.due_at_ms > (SELECT now FROM t) ORDER BY s.due_at_ms LIMIT 1),
  (SELECT min(at_ms) FROM (
    SELECT min(quarantine_until_at_ms) AS at_ms FROM pawl.trigger_schedules WHERE quarantine_until_at_ms IS NOT NULL AND paused_at_ms IS NULL
    UNION ALL SELECT min(pause_until_at_ms) FROM pawl.trigger_schedules WHERE pause_until_at_ms IS NOT NULL
    UNION ALL SELECT min(pause_until_at_ms) FROM pawl.tasks WHERE pause_until_at_ms IS NOT NULL) m),
  (SELECT r.run_id FROM pawl.ready r ORDER BY r.run_id LIMIT 1) IS NOT NULL,
  (SELECT min(at_ms) FROM (
    SELECT min(wake_at_ms) AS at_ms FROM pawl.parked WHERE wake_at_ms IS NOT NULL
    UNION ALL SELECT min(start_by_at_ms) FROM pawl.ready WHERE start_by_at_ms IS NOT NULL
    UNION ALL SELECT min(start_by_at_ms) FROM pawl.parked WHERE start_by_at_ms IS NOT NULL) m),
  EXISTS (SELECT 1 FROM pawl.cancels),
  (SELECT max(heartbeat_at_ms) FROM pawl.replicas),
  EXISTS (SELECT 1 FROM pawl.leased WHERE expires_at_ms <= (SELECT now FROM t));
