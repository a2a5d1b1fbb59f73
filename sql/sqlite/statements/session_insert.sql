-- session_insert: registers a worker incarnation.
-- params: session:id name:text capacity:int boot_id:text pid:int version:text
-- columns: -
INSERT INTO workers (session_id, name, generation, capacity, boot_id, pid, version, started_at_ms, heartbeat_at_ms)
VALUES (?1, ?2, 1 + coalesce((SELECT max(generation) FROM workers WHERE name = ?2), 0), ?3, ?4, ?5, ?6, pawl_now_ms(), pawl_now_ms());
