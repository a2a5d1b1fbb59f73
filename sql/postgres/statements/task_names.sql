-- task_names: for suggestions.
-- params: project:id
-- columns: name:text
SELECT name FROM pawl.tasks WHERE project_id = $1 AND state = 'active' ORDER BY name LIMIT 20000;
