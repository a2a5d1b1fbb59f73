-- recover_any_pool: the default pool of a task's project.
-- params: task:id
-- columns: pool:id
SELECT p.id FROM pawl.pools p JOIN pawl.tasks t ON t.project_id = p.project_id WHERE t.id = $1 AND p.name = 'default';
