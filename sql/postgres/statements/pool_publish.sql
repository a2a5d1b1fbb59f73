-- pool_publish: what a file says of a pool; an override stays.
-- params: pool:id owner_mark:text? slots:int state:text
-- columns: -
UPDATE pawl.pools SET owner_mark = $2, slots = $3, state = $4, updated_at_ms = pawl.now_ms() WHERE id = $1;
