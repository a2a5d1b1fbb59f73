-- retention_stale_output: runs whose output is past its keep, oldest first.
-- params: limit:int
-- columns: run:id
SELECT run_id FROM output_until WHERE until_at_ms <= (SELECT pawl_now_ms()) ORDER BY until_at_ms, run_id LIMIT ?1;
