-- retention_workers: deletes sessions that ended before an instant and hold nothing.
-- params: before_ms:int
-- columns: -
WITH c AS MATERIALIZED (SELECT session_id FROM pawl.workers WHERE ended_at_ms < $1 ORDER BY session_id FOR UPDATE SKIP LOCKED)
DELETE FROM pawl.workers w USING c
WHERE w.session_id = c.session_id AND w.ended_at_ms < $1 AND NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.session_id = w.session_id);
