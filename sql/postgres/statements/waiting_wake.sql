-- waiting_wake: the earliest instant at which a waiting row moves.
-- params: -
-- columns: at_ms:int?
SELECT min(at_ms) FROM (
  SELECT min(wake_at_ms) AS at_ms FROM pawl.parked WHERE wake_at_ms IS NOT NULL
  UNION ALL SELECT min(start_by_at_ms) FROM pawl.ready WHERE start_by_at_ms IS NOT NULL
  UNION ALL SELECT min(start_by_at_ms) FROM pawl.parked WHERE start_by_at_ms IS NOT NULL) m;
