-- counter_put: writes a value that was read before.
-- params: name:text value:int
-- columns: -
UPDATE pawl.counters SET value = $2 WHERE name = $1;
