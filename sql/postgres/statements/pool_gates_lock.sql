-- pool_gates_lock: goes inside the pools that have something ready, past those in which somebody is.
-- params: -
-- columns: pool:id
-- only: postgres
SELECT g.pool_id FROM pawl.pool_gates g
WHERE EXISTS (SELECT 1 FROM pawl.ready r WHERE r.pool_id = g.pool_id)
ORDER BY g.pool_id
FOR NO KEY UPDATE OF g SKIP LOCKED;
