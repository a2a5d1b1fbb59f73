-- retention_events: deletes the events of a run that is gone.
-- params: run:id
-- columns: -
DELETE FROM events WHERE subject = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1);
