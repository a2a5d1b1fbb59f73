-- explain_siblings: runs of a task that have a lease, oldest first; born: 1 counts only those born of triggers; at most 5.
-- params: task:id born:int
-- columns: run:id task:text slots:int since_at_ms:int
SELECT l.run_id, t.name, l.slots, coalesce(l.started_at_ms, l.acquired_at_ms) FROM pawl.leased l JOIN pawl.tasks t ON t.id = l.task_id
WHERE l.task_id = $1 AND (l.trigger_born OR $2 = 0) ORDER BY l.run_id LIMIT 5;
