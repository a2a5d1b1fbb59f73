-- expired_task_pauses: tasks whose pause has come to its end.
-- params: -
-- columns: task:id until_at_ms:int
SELECT id, pause_until_at_ms FROM tasks WHERE pause_until_at_ms <= (SELECT pawl_now_ms()) ORDER BY id;
