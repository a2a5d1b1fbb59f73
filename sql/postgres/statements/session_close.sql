-- session_close: marks a session as ended.
-- params: session:id
-- columns: -
UPDATE pawl.workers SET ended_at_ms = pawl.now_ms() WHERE session_id = $1 AND ended_at_ms IS NULL;
