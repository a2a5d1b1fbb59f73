-- doctor_clock: by how much the store's newest instant lies ahead of the clock; negative when it does not.
-- params: -
-- columns: ahead_ms:int
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now), m AS (
  SELECT max(updated_at_ms) AS at_ms FROM pawl.trigger_schedules
  UNION ALL SELECT max(updated_at_ms) FROM pawl.tasks
  UNION ALL SELECT max(heartbeat_at_ms) FROM pawl.workers
  UNION ALL SELECT max(acquired_at_ms) FROM pawl.leased)
SELECT coalesce((SELECT max(at_ms) FROM m), t.now) - t.now FROM t;
