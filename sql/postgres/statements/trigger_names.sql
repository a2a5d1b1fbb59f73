-- trigger_names: for suggestions.
-- params: task:id
-- columns: name:text
SELECT name FROM pawl.triggers WHERE task_id = $1 AND state = 'active' ORDER BY name LIMIT 1000;
