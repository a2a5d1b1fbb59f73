-- pool_unfinished: tasks with unfinished runs in a pool, and whether some of these have a lease.
-- params: pool:id
-- columns: task:text leased:int
SELECT t.name, EXISTS (SELECT 1 FROM pawl.leased l WHERE l.task_id = t.id AND l.pool_id = $1)
FROM pawl.tasks t
WHERE EXISTS (SELECT 1 FROM pawl.ready r WHERE r.task_id = t.id AND r.pool_id = $1)
  OR EXISTS (SELECT 1 FROM pawl.leased l WHERE l.task_id = t.id AND l.pool_id = $1)
  OR EXISTS (SELECT 1 FROM pawl.parked k WHERE k.task_id = t.id AND k.pool_id = $1)
ORDER BY t.name;
