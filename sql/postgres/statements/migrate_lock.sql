-- migrate_lock: waits until nobody else changes the schema; held to the end of the transaction.
-- params: -
-- columns: held:int
-- only: postgres
SELECT 1 FROM pg_advisory_xact_lock(1885435756, 0);
