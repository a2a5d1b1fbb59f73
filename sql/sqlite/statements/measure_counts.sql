-- measure_counts: what gauges say of the store. There are no claims here.
-- params: -
-- columns: now_ms:int quarantined:int claims:int claim_acquired_at_ms:int? backlog:int running:int oldest_due_at_ms:int?
SELECT pawl_now_ms(),
  (SELECT count(*) FROM trigger_schedules WHERE quarantine_until_at_ms IS NOT NULL), 0, NULL,
  (SELECT count(*) FROM ready), (SELECT count(*) FROM leased), (SELECT min(due_at_ms) FROM trigger_schedules WHERE armed = 1);
