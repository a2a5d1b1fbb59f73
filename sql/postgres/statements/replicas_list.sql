-- replicas_list: the replicas, with the age of their last heartbeat by the server's clock.
-- params: -
-- columns: id:id name:text version:text host:text pid:int address:text? state:text started_at_ms:int heartbeat_at_ms:int ended_at_ms:int? age_ms:int claims:int
-- only: postgres
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT r.id, r.name, r.version, r.host, r.pid, r.address, r.state, r.started_at_ms, r.heartbeat_at_ms, r.ended_at_ms,
  (SELECT now FROM t) - r.heartbeat_at_ms,
  (SELECT count(*) FROM pawl.trigger_schedules s WHERE s.armed AND s.due_at_ms <= (SELECT now FROM t) AND s.claim_owner = r.id::text AND s.claim_expires_at_ms > (SELECT now FROM t))
FROM pawl.replicas r ORDER BY r.ended_at_ms IS NOT NULL, r.name, r.started_at_ms;
