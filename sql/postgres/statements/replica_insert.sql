-- replica_insert: registers a replica.
-- params: id:id name:text version:text host:text pid:int address:text?
-- columns: -
-- only: postgres
INSERT INTO pawl.replicas (id, name, version, host, pid, address, state, started_at_ms, heartbeat_at_ms)
SELECT $1, $2, $3, $4, $5, $6, 'starting', t.now, t.now FROM (SELECT pawl.now_ms() AS now) t;
