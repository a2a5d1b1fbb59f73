-- pull_fits_now: parked rows that a pool is large enough for by now.
-- Locked: whoever else moves one of them is left to it.
-- params: limit:int
-- columns: run:id
SELECT k.run_id
FROM pawl.parked k
JOIN pawl.pools p ON p.id = k.pool_id
WHERE k.reason = 'unsatisfiable' AND p.state <> 'deleted' AND (coalesce(p.slots_override, p.slots) = -1 OR k.slots <= coalesce(p.slots_override, p.slots))
LIMIT $1
FOR UPDATE OF k SKIP LOCKED;
