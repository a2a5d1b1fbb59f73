-- session_beat: notes that a session lives.
-- params: session:id
-- columns: -
UPDATE pawl.workers SET heartbeat_at_ms = pawl.now_ms() WHERE session_id = $1 AND ended_at_ms IS NULL;
