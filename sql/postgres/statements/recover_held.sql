-- recover_held: the leases of a session.
-- params: session:id
-- columns: run:id session:id attempt:int lease_version:int started:int boot_id:text? pid:int? start_ticks:int?
SELECT run_id, session_id, attempt, lease_version, started_at_ms IS NOT NULL, boot_id, pid, start_ticks
FROM pawl.leased
WHERE session_id = $1;
