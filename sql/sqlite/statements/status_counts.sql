-- status_counts: what `pawl status` says in numbers.
-- params: since_ms:int
-- columns: now_ms:int tasks:int triggers:int paused:int quarantined:int running:int waiting:int parked:int manual:int failed:int oldest_due_at_ms:int? oldest_waiting_at_ms:int?
SELECT pawl_now_ms(),
  (SELECT count(*) FROM tasks WHERE state = 'active'),
  (SELECT count(*) FROM triggers WHERE state = 'active'),
  (SELECT count(*) FROM tasks WHERE paused_at_ms IS NOT NULL) + (SELECT count(*) FROM trigger_schedules WHERE paused_at_ms IS NOT NULL),
  (SELECT count(*) FROM trigger_schedules WHERE quarantined_at_ms IS NOT NULL),
  (SELECT count(*) FROM leased), (SELECT count(*) FROM ready), (SELECT count(*) FROM parked), (SELECT count(*) FROM parked WHERE reason = 'manual'),
  (SELECT count(*) FROM attempts WHERE state <> 'succeeded' AND last = 1 AND state <> 'cancelled' AND finished_at_ms > ?1),
  (SELECT min(due_at_ms) FROM trigger_schedules WHERE armed = 1), (SELECT min(since_at_ms) FROM ready);
