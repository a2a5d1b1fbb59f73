-- tasks_named: all tasks of a name, in one project or in any; archived ones too.
-- params: project:text? name:text
-- columns: task:id
SELECT id FROM pawl.tasks WHERE project_id IN (SELECT id FROM pawl.projects WHERE $1 IS NULL OR name = $1) AND name = $2 ORDER BY id;
