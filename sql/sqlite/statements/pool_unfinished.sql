-- pool_unfinished: names of tasks with unfinished runs in a pool, at most 6.
-- params: pool:id
-- columns: task:text
SELECT t.name FROM tasks t
WHERE EXISTS (SELECT 1 FROM ready r WHERE r.task_id = t.id AND r.pool_id = ?1)
  OR EXISTS (SELECT 1 FROM leased l WHERE l.task_id = t.id AND l.pool_id = ?1)
  OR EXISTS (SELECT 1 FROM parked k WHERE k.task_id = t.id AND k.pool_id = ?1)
ORDER BY t.name LIMIT 6;
