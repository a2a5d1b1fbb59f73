-- project_names: for suggestions.
-- params: -
-- columns: name:text
SELECT name FROM pawl.projects WHERE state <> 'archived' ORDER BY name LIMIT 1000;
