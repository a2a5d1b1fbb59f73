-- task_serial: whether a trigger of the task has an overlap rule other than allow.
-- params: task:id serial:int
-- columns: -
UPDATE pawl.tasks SET serial = ($2 <> 0), updated_at_ms = pawl.now_ms() WHERE id = $1 AND serial <> ($2 <> 0);
