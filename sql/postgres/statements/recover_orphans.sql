-- recover_orphans: leases of other sessions that have run out.
-- params: mine:id? after:id limit:int
-- columns: run:id session:id attempt:int lease_version:int started:int boot_id:text? pid:int? start_ticks:int?
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT run_id, session_id, attempt, lease_version, started_at_ms IS NOT NULL, boot_id, pid, start_ticks
FROM pawl.leased
WHERE run_id > $2 AND ($1::uuid IS NULL OR session_id <> $1) AND expires_at_ms <= (SELECT now FROM t)
ORDER BY run_id
LIMIT $3;
