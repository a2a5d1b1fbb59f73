-- finish_waiting: a waiting attempt, wherever it waits.
-- Locked. No row may also mean that it is being moved, or that somebody cancels it just now.
-- params: run:id
-- columns: attempt:int lease_version:int
WITH r AS MATERIALIZED (SELECT attempt, lease_version FROM pawl.ready WHERE run_id = $1 FOR UPDATE SKIP LOCKED),
k AS MATERIALIZED (SELECT attempt, lease_version FROM pawl.parked WHERE run_id = $1 FOR UPDATE SKIP LOCKED)
SELECT attempt, lease_version FROM r UNION ALL SELECT attempt, lease_version FROM k;
