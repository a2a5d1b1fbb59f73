-- retention_run: deletes a run that ended before an instant and is in no hot table.
-- params: run:id before_ms:int
-- columns: -
DELETE FROM runs WHERE id = ?1
  AND EXISTS (SELECT 1 FROM attempts a WHERE a.run_id = ?1 AND a.last = 1 AND a.finished_at_ms < ?2)
  AND NOT EXISTS (SELECT 1 FROM ready WHERE run_id = ?1)
  AND NOT EXISTS (SELECT 1 FROM parked WHERE run_id = ?1)
  AND NOT EXISTS (SELECT 1 FROM leased WHERE run_id = ?1);
