-- role_exists: 1 when there is a role of that name, else 0.
-- params: role:text
-- columns: found:int
-- only: postgres
SELECT count(*) FROM pg_roles WHERE rolname = $1;
