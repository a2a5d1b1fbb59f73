-- pull_heads: the first ready row in a pool of each task that its own limits let run, in the order of hand-out: a skip scan that no backlog makes longer.
-- params: pool:id limit:int
-- columns: run:id attempt:int task:id slots:int order_key:int trigger_born:int since_at_ms:int max_active:int serial:int paused:int cancelled:int archived:int
WITH RECURSIVE w (task_id) AS (
  (SELECT task_id FROM pawl.ready ORDER BY task_id LIMIT 1)
  UNION ALL
  SELECT (SELECT n.task_id FROM pawl.ready n WHERE n.task_id > w.task_id ORDER BY n.task_id LIMIT 1) FROM w WHERE w.task_id IS NOT NULL)
SELECT r.run_id, r.attempt, r.task_id, r.slots, r.order_key, r.trigger_born, r.since_at_ms, t.max_active, t.serial, t.paused_at_ms IS NOT NULL,
  EXISTS (SELECT 1 FROM pawl.cancels c WHERE c.run_id = r.run_id), t.state = 'archived'
FROM w
JOIN pawl.tasks t ON t.id = w.task_id
JOIN pawl.ready r ON r.run_id = (SELECT h.run_id FROM pawl.ready h WHERE h.task_id = w.task_id AND h.pool_id = $1 ORDER BY h.order_key, h.run_id LIMIT 1)
WHERE t.paused_at_ms IS NULL
  AND (t.max_active = 0 OR (SELECT count(*) FROM pawl.leased l WHERE l.task_id = t.id) < t.max_active)
  AND (NOT t.serial OR NOT r.trigger_born OR NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.task_id = t.id AND l.trigger_born))
ORDER BY r.order_key, r.run_id
LIMIT $2;
