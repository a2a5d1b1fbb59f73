-- counter_set: makes a counter.
-- params: name:text value:int
-- columns: -
INSERT INTO pawl.counters (name, value) VALUES ($1, $2);
