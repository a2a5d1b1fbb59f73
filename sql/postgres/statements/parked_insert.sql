-- parked_insert: adds an attempt that waits for an instant or for a limit.
-- params: run:id attempt:int task:id pool:id slots:int order_key:int trigger_born:int lease_version:int laters:int start_by_at_ms:int? since_at_ms:int reason:text detail:text? wake_at_ms:int?
-- columns: -
INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms, reason, detail, wake_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7 <> 0, $8, $9, $10, $11, $12, $13, $14);
