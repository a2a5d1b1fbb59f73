-- run_stand: where an unfinished run stands: waiting, leased or nowhere; no row for a run that never was.
-- params: run:id
-- columns: stand:text
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM pawl.leased WHERE run_id = $1) THEN 'leased'
  WHEN EXISTS (SELECT 1 FROM pawl.ready WHERE run_id = $1) OR EXISTS (SELECT 1 FROM pawl.parked WHERE run_id = $1) THEN 'waiting'
  ELSE 'nowhere' END
FROM pawl.runs WHERE id = $1;
