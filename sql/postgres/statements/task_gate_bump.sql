-- task_gate_bump: says that what a task limits has changed.
-- params: task:id
-- columns: -
UPDATE pawl.task_gates SET generation = generation + 1 WHERE task_id = $1;
