-- cancel_insert: an intent to cancel.
-- params: run:id requested_by:text? reason:text
-- columns: -
INSERT INTO pawl.cancels (run_id, requested_at_ms, requested_by, reason) VALUES ($1, pawl.now_ms(), $2, $3) ON CONFLICT (run_id) DO NOTHING;
