-- doctor_tasks_over: tasks with more leases than max_active or their overlap rule allows; fresh: granted since the task was last published.
-- params: -
-- columns: name:text max_active:int serial:int active:int born:int fresh:int
SELECT name, max_active, serial, active, born, fresh FROM (
  SELECT t.name, t.max_active, t.serial, count(*) AS active, count(*) FILTER (WHERE l.trigger_born) AS born,
    count(*) FILTER (WHERE l.acquired_at_ms > t.updated_at_ms) AS fresh
  FROM pawl.tasks t JOIN pawl.leased l ON l.task_id = t.id GROUP BY t.id, t.name, t.max_active, t.serial) u
WHERE (max_active > 0 AND active > max_active) OR (serial AND born > 1);
