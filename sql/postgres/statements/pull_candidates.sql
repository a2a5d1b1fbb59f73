-- pull_candidates: ready rows of a pool after a key, in the order of hand-out.
-- params: pool:id order_key:int run:id limit:int
-- columns: run:id attempt:int task:id slots:int order_key:int trigger_born:int since_at_ms:int max_active:int serial:int paused:int cancelled:int archived:int
SELECT r.run_id, r.attempt, r.task_id, r.slots, r.order_key, r.trigger_born, r.since_at_ms, t.max_active, t.serial, t.paused_at_ms IS NOT NULL,
  EXISTS (SELECT 1 FROM pawl.cancels c WHERE c.run_id = r.run_id), t.state = 'archived'
FROM pawl.ready r
JOIN pawl.tasks t ON t.id = r.task_id
WHERE r.pool_id = $1 AND (r.order_key, r.run_id) > ($2, $3)
ORDER BY r.order_key, r.run_id
LIMIT $4;
