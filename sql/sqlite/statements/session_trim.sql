-- session_trim: forgets sessions that ended more than a day ago and hold nothing.
-- params: -
-- columns: -
DELETE FROM workers WHERE ended_at_ms < (SELECT pawl_now_ms()) - 86400000
  AND NOT EXISTS (SELECT 1 FROM leased l WHERE l.session_id = workers.session_id);
