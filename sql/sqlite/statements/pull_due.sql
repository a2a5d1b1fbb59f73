-- pull_due: parked rows whose instant has come.
-- params: limit:int
-- columns: run:id
SELECT run_id FROM parked WHERE wake_at_ms <= (SELECT pawl_now_ms()) ORDER BY wake_at_ms, run_id LIMIT ?1;
