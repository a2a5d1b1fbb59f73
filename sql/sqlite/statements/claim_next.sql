-- claim_next: the earliest due instant that is still to come.
-- params: now_ms:int
-- columns: due_at_ms:int?
-- only: sqlite
SELECT min(due_at_ms) FROM trigger_schedules WHERE armed = 1 AND due_at_ms > ?1;
