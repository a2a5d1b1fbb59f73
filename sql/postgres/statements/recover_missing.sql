-- recover_missing: unfinished runs among the newest that stand in no hot table.
-- params: newest:int limit:int
-- columns: run:id task:id priority:int queued_at_ms:int attempt:int
SELECT r.id, r.task_id, r.priority, r.queued_at_ms, 1 + coalesce((SELECT max(m.attempt) FROM pawl.attempts m WHERE m.run_id = r.id), 0)
FROM (SELECT id, task_id, priority, queued_at_ms FROM pawl.runs ORDER BY id DESC LIMIT $1) r
WHERE NOT EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = r.id AND a.last)
  AND NOT EXISTS (SELECT 1 FROM pawl.ready w WHERE w.run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM pawl.parked k WHERE k.run_id = r.id)
  AND NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.run_id = r.id)
LIMIT $2;
