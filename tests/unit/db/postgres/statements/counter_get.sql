-- counter_get: a counter.
-- params: name:text
-- columns: value:int
SELECT value FROM pawl.counters WHERE name = $1;
