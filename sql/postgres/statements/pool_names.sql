-- pool_names: for suggestions.
-- params: project:id
-- columns: name:text
SELECT name FROM pawl.pools WHERE project_id = $1 AND state <> 'deleted' ORDER BY name LIMIT 1000;
