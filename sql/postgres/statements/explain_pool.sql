-- explain_pool: a pool and what is used of it.
-- params: pool:id
-- columns: name:text slots:int slots_file:int overridden:int state:text used:int
SELECT name, coalesce(slots_override, slots), slots, slots_override IS NOT NULL, state, coalesce((SELECT sum(l.slots) FROM pawl.leased l WHERE l.pool_id = $1), 0)
FROM pawl.pools WHERE id = $1;
