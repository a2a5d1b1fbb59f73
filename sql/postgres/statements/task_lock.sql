-- task_lock: takes a task's row, which waits for publications under way through their foreign keys.
-- params: task:id
-- columns: -
-- only: postgres
SELECT FROM pawl.tasks WHERE id = $1 FOR UPDATE;
