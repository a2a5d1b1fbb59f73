-- doctor_clock: by how much the store's newest instant lies ahead of the clock; negative when it does not.
-- params: -
-- columns: ahead_ms:int
SELECT coalesce(max(at_ms), pawl_now_ms()) - pawl_now_ms() FROM (
  SELECT max(updated_at_ms) AS at_ms FROM trigger_schedules
  UNION ALL SELECT max(updated_at_ms) FROM tasks
  UNION ALL SELECT max(heartbeat_at_ms) FROM workers
  UNION ALL SELECT max(acquired_at_ms) FROM leased) m;
