-- recover_orphans: leases of other sessions, and those that ran out.
-- params: mine:id? after:id limit:int
-- columns: run:id session:id attempt:int lease_version:int started:int boot_id:text? pid:int? start_ticks:int?
SELECT run_id, session_id, attempt, lease_version, started_at_ms IS NOT NULL, boot_id, pid, start_ticks
FROM leased
WHERE run_id > ?2 AND (?1 IS NULL OR session_id <> ?1 OR expires_at_ms <= (SELECT pawl_now_ms()))
ORDER BY run_id
LIMIT ?3;
