-- expired_task_pauses: tasks whose pause has come to its end.
-- params: -
-- columns: task:id until_at_ms:int
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT id, pause_until_at_ms FROM pawl.tasks WHERE pause_until_at_ms <= (SELECT now FROM t) ORDER BY id;
