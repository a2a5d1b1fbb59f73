-- finish_attempt: an attempt's history row, written at its end.
-- params: run:id attempt:int state:text last:int reason:text? exit_code:int? signal:int? session:id? lease_version:int started_at_ms:int? output_bytes:int omitted_bytes:int cpu_ms:int? max_rss_kib:int?
-- columns: -
INSERT INTO pawl.attempts (run_id, attempt, state, last, reason, exit_code, signal, session_id, lease_version, started_at_ms, finished_at_ms, output_bytes,
  omitted_bytes, cpu_ms, max_rss_kib)
VALUES ($1, $2, $3, $4 <> 0, $5, $6, $7, $8, $9, $10, pawl.now_ms(), $11, $12, $13, $14);
