-- doze: takes so many seconds.
-- params: seconds:real
-- columns: n:int
-- only: postgres
SELECT 1 FROM pg_sleep($1);
