-- retention_attempts: deletes the attempts of a run that is gone.
-- params: run:id
-- columns: -
DELETE FROM attempts WHERE run_id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1);
