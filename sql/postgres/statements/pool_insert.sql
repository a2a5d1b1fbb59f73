-- pool_insert: makes a pool.
-- params: pool:id project:id name:text owner_mark:text? slots:int
-- columns: -
INSERT INTO pawl.pools (id, project_id, name, owner_mark, slots, updated_at_ms) VALUES ($1, $2, $3, $4, $5, pawl.now_ms());
