-- recover_manual_from_leased: parks a drifted leased row: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read.
-- params: run:id detail:text
-- columns: -
INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, reason, detail)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, 'manual', $2 FROM pawl.leased WHERE run_id = $1
FOR UPDATE
ON CONFLICT (run_id) DO NOTHING;
