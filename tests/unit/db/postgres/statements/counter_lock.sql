-- counter_lock: a counter, locked.
-- params: name:text
-- columns: value:int
-- only: postgres
SELECT value FROM pawl.counters WHERE name = $1 FOR NO KEY UPDATE OF counters;
