-- status_counts: what `pawl status` says in numbers.
-- params: since_ms:int
-- columns: now_ms:int tasks:int triggers:int paused:int quarantined:int running:int waiting:int parked:int manual:int failed:int oldest_due_at_ms:int? oldest_waiting_at_ms:int?
SELECT pawl.now_ms(),
  (SELECT count(*) FROM pawl.tasks WHERE state = 'active'),
  (SELECT count(*) FROM pawl.triggers WHERE state = 'active'),
  (SELECT count(*) FROM pawl.tasks WHERE paused_at_ms IS NOT NULL) + (SELECT count(*) FROM pawl.trigger_schedules WHERE paused_at_ms IS NOT NULL),
  (SELECT count(*) FROM pawl.trigger_schedules WHERE quarantined_at_ms IS NOT NULL),
  (SELECT count(*) FROM pawl.leased), (SELECT count(*) FROM pawl.ready), (SELECT count(*) FROM pawl.parked), (SELECT count(*) FROM pawl.parked WHERE reason = 'manual'),
  (SELECT count(*) FROM pawl.attempts WHERE state <> 'succeeded' AND last AND state <> 'cancelled' AND finished_at_ms > $1),
  (SELECT min(due_at_ms) FROM pawl.trigger_schedules WHERE armed), (SELECT min(since_at_ms) FROM pawl.ready);
