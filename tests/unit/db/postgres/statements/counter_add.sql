-- counter_add: adds to a counter.
-- params: name:text by:int
-- columns: -
UPDATE pawl.counters SET value = value + $2 WHERE name = $1;
