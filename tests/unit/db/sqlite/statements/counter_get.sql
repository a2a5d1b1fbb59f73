-- counter_get: a counter.
-- params: name:text
-- columns: value:int
SELECT value FROM counters WHERE name = ?1;
