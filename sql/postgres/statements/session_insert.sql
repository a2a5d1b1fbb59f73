-- session_insert: registers a worker incarnation.
-- Generations come from a sequence, so two that register at once differ.
-- params: session:id name:text capacity:int boot_id:text pid:int version:text
-- columns: -
INSERT INTO pawl.workers (session_id, name, capacity, boot_id, pid, version, started_at_ms, heartbeat_at_ms)
SELECT $1, $2, $3, $4, $5, $6, t.now, t.now FROM (SELECT pawl.now_ms() AS now) t;
