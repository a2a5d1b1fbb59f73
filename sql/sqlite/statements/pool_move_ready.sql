-- pool_move_ready: moves the waiting runs of a task to the pool of its newest revision; runs of a revision that a trigger pins stay where that puts them.
-- params: task:id pool:id
-- columns: -
-- only: sqlite
UPDATE ready SET pool_id = ?2 WHERE task_id = ?1 AND pool_id <> ?2
  AND NOT EXISTS (SELECT 1 FROM runs r
    JOIN trigger_schedules s ON s.task_id = r.task_id AND s.task_revision = r.task_revision
    JOIN triggers g ON g.id = s.trigger_id AND g.state = 'active'
    WHERE r.id = ready.run_id);
