-- retention_events: deletes the events of a run that is gone.
-- params: run:id
-- columns: -
DELETE FROM pawl.events WHERE subject = $1 AND NOT EXISTS (SELECT 1 FROM pawl.runs WHERE id = $1);
