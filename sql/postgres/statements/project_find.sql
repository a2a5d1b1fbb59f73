-- project_find: a project by its name.
-- params: name:text
-- columns: project:id state:text
SELECT id, state FROM pawl.projects WHERE name = $1;
