-- pull_due: parked rows whose instant has come.
-- Locked: whoever else moves one of them is left to it.
-- params: limit:int
-- columns: run:id
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT run_id FROM pawl.parked WHERE wake_at_ms <= (SELECT now FROM t) ORDER BY wake_at_ms, run_id LIMIT $1
FOR UPDATE SKIP LOCKED;
