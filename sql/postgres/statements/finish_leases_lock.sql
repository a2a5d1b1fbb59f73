-- finish_leases_lock: takes leases, in the order of their ids.
-- params: run:id
-- columns: -
-- only: postgres
-- many: yes
SELECT v.ord
FROM unnest($1::uuid[]) WITH ORDINALITY AS v(run_id, ord)
JOIN pawl.leased l ON l.run_id = v.run_id
ORDER BY l.run_id
FOR UPDATE OF l;
