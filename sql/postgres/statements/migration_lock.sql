-- migration_lock: one migration at a time; the others wait here and then find it done.
-- params: key:int
-- columns: -
-- only: postgres
SELECT FROM pg_advisory_xact_lock($1);
