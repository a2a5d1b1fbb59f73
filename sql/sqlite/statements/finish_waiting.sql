-- finish_waiting: a waiting attempt, wherever it waits.
-- params: run:id
-- columns: attempt:int lease_version:int
SELECT attempt, lease_version FROM ready WHERE run_id = ?1
UNION ALL SELECT attempt, lease_version FROM parked WHERE run_id = ?1;
