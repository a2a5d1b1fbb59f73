-- explain_holders: who uses a pool, the widest first; at most 5.
-- params: pool:id
-- columns: run:id task:text slots:int since_at_ms:int
SELECT l.run_id, t.name, l.slots, coalesce(l.started_at_ms, l.acquired_at_ms) FROM pawl.leased l JOIN pawl.tasks t ON t.id = l.task_id
WHERE l.pool_id = $1 ORDER BY l.slots DESC, l.run_id LIMIT 5;
