-- measure_counts: what gauges say of the store. What is claimed is due, so claims are looked for by the index of what is due.
-- params: -
-- columns: now_ms:int quarantined:int claims:int claim_acquired_at_ms:int? backlog:int running:int oldest_due_at_ms:int?
WITH now AS MATERIALIZED (SELECT pawl.now_ms() AS ms),
  claims AS (SELECT count(*) AS n, min(claim_acquired_at_ms) AS acquired_at_ms FROM pawl.trigger_schedules
    WHERE armed AND due_at_ms <= (SELECT ms FROM now) AND claim_expires_at_ms > (SELECT ms FROM now))
SELECT now.ms,
  (SELECT count(*) FROM pawl.trigger_schedules WHERE quarantine_until_at_ms IS NOT NULL), claims.n, claims.acquired_at_ms,
  (SELECT count(*) FROM pawl.ready), (SELECT count(*) FROM pawl.leased), (SELECT min(due_at_ms) FROM pawl.trigger_schedules WHERE armed)
FROM now, claims;
