-- ready_from_parked: makes a parked attempt ready: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read; what somebody else holds (a user's cancel) is left to him.
-- params: run:id
-- columns: -
INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, pawl.now_ms() FROM pawl.parked WHERE run_id = $1
FOR UPDATE SKIP LOCKED;
