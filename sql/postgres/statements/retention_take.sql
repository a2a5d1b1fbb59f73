-- retention_take: lets one replica at a time drop what is old; no row: another one is at it.
-- params: -
-- columns: taken:int
-- only: postgres
SELECT 1 WHERE pg_try_advisory_xact_lock(1885435756, 2);
