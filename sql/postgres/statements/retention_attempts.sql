-- retention_attempts: deletes the attempts of a run that is gone.
-- params: run:id
-- columns: -
DELETE FROM pawl.attempts WHERE run_id = $1 AND NOT EXISTS (SELECT 1 FROM pawl.runs WHERE id = $1);
