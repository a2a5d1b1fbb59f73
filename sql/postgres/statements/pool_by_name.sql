-- pool_by_name: the pool of a project by its name.
-- params: project:id name:text
-- columns: pool:id
SELECT id FROM pawl.pools WHERE project_id = $1 AND name = $2 AND state <> 'deleted';
