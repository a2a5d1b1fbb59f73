-- task_gate_try: takes the gate of a task, unless somebody holds it.
-- params: task:id
-- columns: task:id
-- only: postgres
SELECT g.task_id FROM pawl.task_gates g WHERE g.task_id = $1 FOR NO KEY UPDATE OF g SKIP LOCKED;
