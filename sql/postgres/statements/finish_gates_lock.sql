-- finish_gates_lock: takes the gates of the tasks whose limits count these leases, in the order of their ids.
-- params: run:id
-- columns: -
-- only: postgres
-- many: yes
SELECT v.ord
FROM pawl.task_gates g
JOIN pawl.tasks t ON t.id = g.task_id AND (t.max_active > 0 OR t.serial)
JOIN (SELECT l.task_id, min(u.ord) AS ord
  FROM unnest($1::uuid[]) WITH ORDINALITY AS u(run_id, ord) JOIN pawl.leased l ON l.run_id = u.run_id GROUP BY l.task_id) v ON v.task_id = g.task_id
ORDER BY g.task_id
FOR NO KEY UPDATE OF g;
