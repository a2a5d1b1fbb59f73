-- backend_end: ends the backend of a connection that broke, if it is still that one.
-- params: pid:int started_us:int
-- columns: ended:int
-- only: postgres
SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
WHERE a.pid = $1 AND floor(extract(epoch FROM a.backend_start) * 1000000)::bigint = $2;
