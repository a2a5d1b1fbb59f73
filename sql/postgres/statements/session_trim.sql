-- session_trim: forgets sessions that ended more than a day ago and hold nothing.
-- params: -
-- columns: -
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now),
c AS MATERIALIZED (
  SELECT session_id FROM pawl.workers WHERE ended_at_ms < (SELECT now FROM t) - 86400000 ORDER BY session_id FOR UPDATE SKIP LOCKED)
DELETE FROM pawl.workers w USING c
WHERE w.session_id = c.session_id AND w.ended_at_ms < (SELECT now FROM t) - 86400000
  AND NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.session_id = w.session_id);
