-- finish_waiting: a waiting attempt, wherever it waits.
-- Locked. No row may also mean that it has just been moved: who must be sure asks again.
-- params: run:id
-- columns: attempt:int lease_version:int
WITH r AS MATERIALIZED (SELECT attempt, lease_version FROM pawl.ready WHERE run_id = $1 FOR UPDATE),
k AS MATERIALIZED (SELECT attempt, lease_version FROM pawl.parked WHERE run_id = $1 FOR UPDATE)
SELECT attempt, lease_version FROM r UNION ALL SELECT attempt, lease_version FROM k;
