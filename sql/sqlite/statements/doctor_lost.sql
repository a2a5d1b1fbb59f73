-- doctor_lost: runs among the newest 100,000 that have neither ended nor a place to wait in.
-- params: -
-- columns: count:int
SELECT count(*) FROM (SELECT id FROM runs ORDER BY id DESC LIMIT 100000) r
WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run_id = r.id AND a.last = 1)
  AND NOT EXISTS (SELECT 1 FROM ready WHERE run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM parked WHERE run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM leased WHERE run_id = r.id);
