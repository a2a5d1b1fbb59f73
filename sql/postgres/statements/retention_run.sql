-- retention_run: deletes a run that ended before an instant and is in no hot table.
-- params: run:id before_ms:int
-- columns: -
DELETE FROM pawl.runs WHERE id = $1
  AND EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = $1 AND a.last AND a.finished_at_ms < $2)
  AND NOT EXISTS (SELECT 1 FROM pawl.ready WHERE run_id = $1)
  AND NOT EXISTS (SELECT 1 FROM pawl.parked WHERE run_id = $1)
  AND NOT EXISTS (SELECT 1 FROM pawl.leased WHERE run_id = $1);
