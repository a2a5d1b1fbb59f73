-- doctor_pools_over: pools whose leases take more slots than there are; fresh: by leases granted since the size was last set.
-- params: -
-- columns: name:text slots:int used:int fresh:int
SELECT name, slots, used, fresh FROM (
  SELECT o.name, coalesce(o.slots_override, o.slots) AS slots, coalesce(sum(l.slots), 0) AS used,
    coalesce(sum(CASE WHEN l.acquired_at_ms > o.updated_at_ms THEN l.slots ELSE 0 END), 0) AS fresh
  FROM pawl.pools o JOIN pawl.leased l ON l.pool_id = o.id GROUP BY o.id, o.name, o.slots, o.slots_override, o.updated_at_ms) u
WHERE slots >= 0 AND used > slots;
