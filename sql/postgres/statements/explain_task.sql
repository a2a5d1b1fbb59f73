-- explain_task: what a task allows its runs.
-- params: task:id
-- columns: max_active:int serial:int paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text? leased:int born_leased:int
SELECT max_active, serial, paused_at_ms, pause_until_at_ms, pause_reason, paused_by,
  (SELECT count(*) FROM pawl.leased WHERE task_id = $1), (SELECT count(*) FROM pawl.leased WHERE task_id = $1 AND trigger_born)
FROM pawl.tasks WHERE id = $1;
