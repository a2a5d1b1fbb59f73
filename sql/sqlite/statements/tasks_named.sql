-- tasks_named: all tasks of a name, in one project or in any; archived ones too.
-- params: project:text? name:text
-- columns: task:id
SELECT t.id FROM tasks t JOIN projects p ON p.id = t.project_id WHERE t.name = ?2 AND (?1 IS NULL OR p.name = ?1) ORDER BY t.id;
