-- task_ends: the newest ends among the newest 200 runs of a task, newest first.
-- params: task:id
-- columns: state:text started_at_ms:int? finished_at_ms:int
SELECT a.state, a.started_at_ms, a.finished_at_ms
FROM (SELECT id FROM pawl.runs WHERE task_id = $1 ORDER BY id DESC LIMIT 200) r
JOIN pawl.attempts a ON a.run_id = r.id AND a.last
ORDER BY r.id DESC LIMIT 60;
