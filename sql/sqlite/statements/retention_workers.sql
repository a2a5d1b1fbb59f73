-- retention_workers: deletes sessions that ended before an instant and hold nothing.
-- params: before_ms:int
-- columns: -
DELETE FROM workers WHERE ended_at_ms < ?1 AND NOT EXISTS (SELECT 1 FROM leased l WHERE l.session_id = workers.session_id);
