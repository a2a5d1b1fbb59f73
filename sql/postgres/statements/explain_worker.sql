-- explain_worker: a worker's session.
-- params: session:id
-- columns: name:text pid:int heartbeat_at_ms:int ended_at_ms:int?
SELECT name, pid, heartbeat_at_ms, ended_at_ms FROM pawl.workers WHERE session_id = $1;
