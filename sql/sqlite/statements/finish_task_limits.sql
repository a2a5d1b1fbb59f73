-- finish_task_limits: the limits of a task and what they count.
-- params: task:id
-- columns: max_active:int serial:int active:int active_born:int
-- only: sqlite
SELECT t.max_active, t.serial, (SELECT count(*) FROM leased l WHERE l.task_id = ?1),
  (SELECT count(*) FROM leased l WHERE l.task_id = ?1 AND l.trigger_born = 1)
FROM tasks t WHERE t.id = ?1;
