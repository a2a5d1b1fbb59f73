-- counter_set: makes a counter.
-- params: name:text value:int
-- columns: -
INSERT INTO counters (name, value) VALUES (?1, ?2);
