-- recover_park_manual: puts a drifted hot row aside for a person.
-- params: run:id detail:text
-- columns: -
UPDATE pawl.parked SET reason = 'manual', detail = $2, wake_at_ms = NULL WHERE run_id = $1;
