-- retention_stale_output: runs whose output is past its keep, oldest first. Locked: another attempt's end may be giving it longer.
-- params: limit:int
-- columns: run:id
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT run_id FROM pawl.output_until WHERE until_at_ms <= (SELECT now FROM t) ORDER BY until_at_ms, run_id LIMIT $1
FOR UPDATE SKIP LOCKED;
