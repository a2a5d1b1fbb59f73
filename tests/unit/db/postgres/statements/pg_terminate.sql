-- pg_terminate: ends a backend.
-- only: postgres
-- params: pid:int
-- columns: ended:int
SELECT pg_terminate_backend($1::bigint::integer);
