-- pool_task_specs: the specs by which runs of a project's tasks can still come: each task's newest, and those that triggers pin.
-- params: project:id
-- columns: task:text spec:text
SELECT t.name, v.spec FROM pawl.tasks t JOIN pawl.task_revisions v ON v.task_id = t.id AND v.revision = t.revision
WHERE t.project_id = $1 AND t.state = 'active'
UNION
SELECT t.name, v.spec FROM pawl.tasks t
JOIN pawl.trigger_schedules s ON s.task_id = t.id
JOIN pawl.triggers g ON g.id = s.trigger_id AND g.state = 'active'
JOIN pawl.task_revisions v ON v.task_id = t.id AND v.revision = s.task_revision
WHERE t.project_id = $1 AND t.state = 'active' AND s.task_revision <> t.revision
ORDER BY 1;
