-- claim_next: the earliest due instant that is still to come.
-- params: now_ms:int
-- columns: due_at_ms:int?
SELECT min(due_at_ms) FROM pawl.trigger_schedules WHERE armed AND due_at_ms > $1;
