-- lease_row: the lease on an attempt, read under its fence later.
-- Locked: the first report wins.
-- params: run:id
-- columns: attempt:int task:id pool:id slots:int order_key:int trigger_born:int lease_version:int laters:int token_digest:text started_at_ms:int? expires_at_ms:int session:id
SELECT attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, token_digest, started_at_ms, expires_at_ms, session_id
FROM pawl.leased WHERE run_id = $1
FOR UPDATE;
