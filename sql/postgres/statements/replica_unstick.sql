-- replica_unstick: ends the backends of clients that stopped in the middle of a message, or of a pipeline, and hold what they locked. No
--   timeout of PostgreSQL ends them: they count as active. Of the same role and application only: the others are not ours.
-- params: idle_ms:int
-- columns: ended:int
-- only: postgres
SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND application_name = current_setting('application_name')
  AND state = 'active' AND wait_event = 'ClientRead' AND state_change < clock_timestamp() - $1 * interval '1 millisecond';
