-- counter_names: all counters.
-- params: -
-- columns: name:text
SELECT name FROM pawl.counters ORDER BY name;
