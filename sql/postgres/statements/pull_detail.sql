-- pull_detail: what a worker must know of a run that it was given.
-- params: run:id
-- columns: trigger:id? project:text task_name:text trigger_name:text? task_revision:int nominal_at_ms:int? queued_at_ms:int origin:text input:text?
SELECT r.trigger_id, p.name, t.name, g.name, r.task_revision, r.nominal_at_ms, r.queued_at_ms, r.origin, r.input
FROM pawl.runs r
JOIN pawl.projects p ON p.id = r.project_id
JOIN pawl.tasks t ON t.id = r.task_id
LEFT JOIN pawl.triggers g ON g.id = r.trigger_id
WHERE r.id = $1;
