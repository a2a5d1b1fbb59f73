-- recover_orphans: leases of other sessions. One process holds the store, so their workers are gone; the end of a lease is no condition (lease_renew).
-- params: mine:id? after:id limit:int
-- columns: run:id session:id attempt:int lease_version:int started:int boot_id:text? pid:int? start_ticks:int?
SELECT run_id, session_id, attempt, lease_version, started_at_ms IS NOT NULL, boot_id, pid, start_ticks
FROM leased
WHERE run_id > ?2 AND (?1 IS NULL OR session_id <> ?1)
ORDER BY run_id
LIMIT ?3;
