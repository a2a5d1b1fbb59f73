-- recover_lock: takes the hot rows of a run, past those that somebody else holds, and counts them.
-- params: run:id
-- columns: locked:int
-- only: postgres
WITH r AS MATERIALIZED (SELECT FROM pawl.ready WHERE run_id = $1 FOR UPDATE SKIP LOCKED),
k AS MATERIALIZED (SELECT FROM pawl.parked WHERE run_id = $1 FOR UPDATE SKIP LOCKED),
l AS MATERIALIZED (SELECT FROM pawl.leased WHERE run_id = $1 FOR UPDATE SKIP LOCKED)
SELECT (SELECT count(*) FROM r) + (SELECT count(*) FROM k) + (SELECT count(*) FROM l);
