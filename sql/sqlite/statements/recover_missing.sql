-- recover_missing: unfinished runs among the newest that stand in no hot table.
-- params: newest:int limit:int
-- columns: run:id task:id priority:int queued_at_ms:int attempt:int
SELECT r.id, r.task_id, r.priority, r.queued_at_ms, 1 + coalesce((SELECT max(m.attempt) FROM attempts m WHERE m.run_id = r.id), 0)
FROM (SELECT id, task_id, priority, queued_at_ms FROM runs ORDER BY id DESC LIMIT ?1) r
WHERE NOT EXISTS (SELECT 1 FROM attempts a WHERE a.run_id = r.id AND a.last = 1)
  AND NOT EXISTS (SELECT 1 FROM ready w WHERE w.run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM parked k WHERE k.run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM leased l WHERE l.run_id = r.id)
LIMIT ?2;
