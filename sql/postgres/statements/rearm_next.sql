-- rearm_next: the earliest end of a pause or a quarantine.
-- params: -
-- columns: at_ms:int?
SELECT min(at_ms) FROM (
  SELECT min(quarantine_until_at_ms) AS at_ms FROM pawl.trigger_schedules WHERE quarantine_until_at_ms IS NOT NULL AND paused_at_ms IS NULL
  UNION ALL SELECT min(pause_until_at_ms) FROM pawl.trigger_schedules WHERE pause_until_at_ms IS NOT NULL
  UNION ALL SELECT min(pause_until_at_ms) FROM pawl.tasks WHERE pause_until_at_ms IS NOT NULL) m;
