-- explain_cancel: a cancel that was asked for.
-- params: run:id
-- columns: requested_at_ms:int requested_by:text? reason:text
SELECT requested_at_ms, requested_by, reason FROM pawl.cancels WHERE run_id = $1;
