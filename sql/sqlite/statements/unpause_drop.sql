-- unpause_drop: the delete half of the move.
-- params: task:id
-- columns: -
-- only: sqlite
DELETE FROM parked WHERE task_id = ?1 AND reason = 'paused' AND EXISTS (SELECT 1 FROM ready r WHERE r.run_id = parked.run_id AND r.attempt = parked.attempt);
