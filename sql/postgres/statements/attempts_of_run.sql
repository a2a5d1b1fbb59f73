-- attempts_of_run: all attempts of a run, the one under way too.
-- params: run:id
-- columns: attempt:int state:text reason:text? exit_code:int? signal:int? started_at_ms:int? finished_at_ms:int? output_bytes:int? omitted_bytes:int? cpu_ms:int? max_rss_kib:int?
SELECT attempt, state, reason, exit_code, signal, started_at_ms, finished_at_ms, output_bytes, omitted_bytes, cpu_ms, max_rss_kib FROM pawl.attempts WHERE run_id = $1
UNION ALL SELECT attempt, CASE WHEN started_at_ms IS NULL THEN 'leased' ELSE 'running' END, NULL, NULL, NULL, started_at_ms, NULL, NULL, NULL, NULL, NULL FROM pawl.leased WHERE run_id = $1
UNION ALL SELECT attempt, 'waiting', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pawl.ready WHERE run_id = $1
UNION ALL SELECT attempt, 'waiting', coalesce(detail, reason), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM pawl.parked WHERE run_id = $1
ORDER BY 1;
