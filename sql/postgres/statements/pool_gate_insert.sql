-- pool_gate_insert: the gate of a new pool.
-- params: pool:id
-- columns: -
INSERT INTO pawl.pool_gates (pool_id) VALUES ($1) ON CONFLICT (pool_id) DO NOTHING;
