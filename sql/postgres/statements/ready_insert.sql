-- ready_insert: adds a waiting attempt.
-- params: run:id attempt:int task:id pool:id slots:int order_key:int trigger_born:int lease_version:int laters:int start_by_at_ms:int? since_at_ms:int
-- columns: -
INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7 <> 0, $8, $9, $10, $11);
