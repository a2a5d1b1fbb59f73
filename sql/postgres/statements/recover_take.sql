-- recover_take: lets one replica at a time look for drift; no row: another one is at it.
-- params: -
-- columns: taken:int
-- only: postgres
SELECT 1 WHERE pg_try_advisory_xact_lock(1885435756, 3);
