-- spec_trigger: the spec of a trigger revision, with the names that H is spread by.
-- params: trigger:id revision:int
-- columns: spec:text project:text task:text trigger:text digest:text
SELECT v.spec, p.name, t.name, g.name, v.digest
FROM pawl.trigger_revisions v
JOIN pawl.triggers g ON g.id = v.trigger_id
JOIN pawl.tasks t ON t.id = g.task_id
JOIN pawl.projects p ON p.id = t.project_id
WHERE v.trigger_id = $1 AND v.revision = $2;
