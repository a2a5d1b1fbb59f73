-- counter_add_returning: adds to a counter and says its value.
-- params: name:text by:int
-- columns: value:int
UPDATE pawl.counters SET value = value + $2 WHERE name = $1 RETURNING value;
