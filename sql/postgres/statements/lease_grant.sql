-- lease_grant: gives a ready attempt to a session: the insert half of the move.
-- Locked here, so that the delete half finds what this one has read; what somebody else holds (a user's cancel) is left to him.
-- params: run:id attempt:int session:id token_digest:text lease_ms:int
-- columns: -
INSERT INTO pawl.leased (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, session_id, token_digest, acquired_at_ms, expires_at_ms)
SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version + 1, laters, start_by_at_ms, since_at_ms, $3, $4, n.now, n.now + $5
FROM pawl.ready r, (SELECT pawl.now_ms() AS now) n
WHERE run_id = $1 AND attempt = $2
FOR UPDATE OF r SKIP LOCKED;
