-- counter_make: makes a counter by a function; whether its end was waited for.
-- params: name:text
-- columns: waited:int
-- only: postgres
SELECT pawl.make_counter($1);
