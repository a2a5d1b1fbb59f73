-- session_close: marks a session as ended.
-- params: session:id
-- columns: -
UPDATE workers SET ended_at_ms = pawl_now_ms() WHERE session_id = ?1 AND ended_at_ms IS NULL;
