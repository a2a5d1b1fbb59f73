-- task_gates_lock: takes the gates of tasks, in the order given, which is that of their ids.
-- params: task:id
-- columns: -
-- only: postgres
-- many: yes
SELECT v.ord
FROM unnest($1::uuid[]) WITH ORDINALITY AS v(task_id, ord)
JOIN pawl.task_gates g ON g.task_id = v.task_id
ORDER BY g.task_id
FOR NO KEY UPDATE OF g;
