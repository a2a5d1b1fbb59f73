-- project_lock: takes a project for a publication, so that publications of one project wait for each other.
-- params: name:text
-- columns: project:id
-- only: postgres
SELECT id FROM pawl.projects WHERE name = $1 FOR UPDATE;
