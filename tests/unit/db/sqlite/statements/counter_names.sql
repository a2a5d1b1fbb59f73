-- counter_names: all counters.
-- params: -
-- columns: name:text
SELECT name FROM counters ORDER BY name;
