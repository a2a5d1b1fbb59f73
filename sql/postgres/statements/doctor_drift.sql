-- doctor_drift: hot rows that stand twice, whose run is missing, or whose run has ended; and runs put aside.
-- params: -
-- columns: twice:int orphaned:int ended:int manual:int
WITH hot AS (SELECT run_id FROM pawl.ready UNION ALL SELECT run_id FROM pawl.parked UNION ALL SELECT run_id FROM pawl.leased)
SELECT (SELECT count(*) FROM pawl.leased l WHERE EXISTS (SELECT 1 FROM pawl.ready r WHERE r.run_id = l.run_id) OR EXISTS (SELECT 1 FROM pawl.parked k WHERE k.run_id = l.run_id))
    + (SELECT count(*) FROM pawl.parked k WHERE EXISTS (SELECT 1 FROM pawl.ready r WHERE r.run_id = k.run_id)),
  (SELECT count(*) FROM hot WHERE NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = hot.run_id)),
  (SELECT count(*) FROM hot WHERE EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = hot.run_id AND a.last)),
  (SELECT count(*) FROM pawl.parked WHERE reason = 'manual');
