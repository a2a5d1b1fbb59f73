-- pull_fits_now: parked rows that a pool is large enough for by now.
-- params: limit:int
-- columns: run:id
SELECT k.run_id
FROM parked k
JOIN pools p ON p.id = k.pool_id
WHERE k.reason = 'unsatisfiable' AND (coalesce(p.slots_override, p.slots) = -1 OR k.slots <= coalesce(p.slots_override, p.slots))
LIMIT ?1;
