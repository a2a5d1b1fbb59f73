-- pool_gate_bump: says that what a pool limits has changed.
-- params: pool:id
-- columns: -
UPDATE pawl.pool_gates SET generation = generation + 1 WHERE pool_id = $1;
