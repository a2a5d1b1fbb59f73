-- task_serial: whether a trigger of the task has an overlap rule other than allow.
-- params: task:id serial:int
-- columns: -
UPDATE tasks SET serial = ?2, updated_at_ms = pawl_now_ms() WHERE id = ?1 AND serial <> ?2;
