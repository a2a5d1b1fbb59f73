-- task_gate_insert: the gate of a new task.
-- params: task:id
-- columns: -
INSERT INTO pawl.task_gates (task_id) VALUES ($1) ON CONFLICT (task_id) DO NOTHING;
