-- doctor_backend: which backend answers this connection, and for how long it has been there.
-- params: -
-- columns: pid:int age_ms:int
-- only: postgres
SELECT pg_backend_pid(), floor(extract(epoch FROM clock_timestamp() - a.backend_start) * 1000)::bigint
FROM pg_stat_activity a WHERE a.pid = pg_backend_pid();
