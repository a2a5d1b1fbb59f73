-- pool_move_ready: moves the waiting runs of a task to the pool of its newest revision; runs of a revision that a trigger pins stay where that puts them.
-- params: task:id pool:id
-- columns: -
WITH c AS MATERIALIZED (
  SELECT h.run_id FROM pawl.ready h
  WHERE h.task_id = $1 AND h.pool_id <> $2
    AND NOT EXISTS (SELECT 1 FROM pawl.runs r
      JOIN pawl.trigger_schedules s ON s.task_id = r.task_id AND s.task_revision = r.task_revision
      JOIN pawl.triggers g ON g.id = s.trigger_id AND g.state = 'active'
      WHERE r.id = h.run_id)
  ORDER BY h.run_id
  FOR NO KEY UPDATE OF h)
UPDATE pawl.ready h SET pool_id = $2 FROM c WHERE h.run_id = c.run_id AND h.task_id = $1 AND h.pool_id <> $2;
