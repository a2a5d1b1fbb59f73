-- pg_nap: takes its time.
-- only: postgres
-- params: seconds:real
-- columns: one:int
SELECT 1 FROM pg_sleep($1);
