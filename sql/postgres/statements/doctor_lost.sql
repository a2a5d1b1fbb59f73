-- doctor_lost: runs among the newest 100,000 that have neither ended nor a place to wait in.
-- params: -
-- columns: count:int
SELECT count(*) FROM (SELECT id FROM pawl.runs ORDER BY id DESC LIMIT 100000) r
WHERE NOT EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = r.id AND a.last)
  AND NOT EXISTS (SELECT 1 FROM pawl.ready WHERE run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM pawl.parked WHERE run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM pawl.leased WHERE run_id = r.id);
