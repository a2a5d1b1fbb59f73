-- doctor_connections: how many connections there may be and are. A limit of the database or the role is -1 where there is none.
-- params: -
-- columns: most:int reserved:int used:int database_most:int database_used:int role_most:int
-- only: postgres
SELECT current_setting('max_connections')::bigint,
  current_setting('superuser_reserved_connections')::bigint + coalesce(current_setting('reserved_connections', true)::bigint, 0),
  (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database),
  (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
  (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database WHERE datname = current_database()),
  (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user);
