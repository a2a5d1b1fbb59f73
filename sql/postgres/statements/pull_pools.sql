-- pull_pools: pools with something ready: effective size, slots in use, state.
-- params: -
-- columns: pool:id slots:int used:int state:text
SELECT p.id, coalesce(p.slots_override, p.slots), (SELECT coalesce(sum(l.slots), 0) FROM pawl.leased l WHERE l.pool_id = p.id), p.state
FROM pawl.pools p
WHERE (SELECT 1 FROM pawl.ready r WHERE r.pool_id = p.id ORDER BY r.order_key, r.run_id LIMIT 1) IS NOT NULL;
