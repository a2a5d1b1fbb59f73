-- doctor_held: what keeps dead rows from being vacuumed: transactions that stand idle and prepared ones older than $1 ms, statements that have
-- run for $2 ms, replication slots that lag by 10 million transactions. The oldest first, at most five.
-- params: idle_ms:int running_ms:int
-- columns: what:text age_ms:int
-- only: postgres
SELECT h.what, h.age_ms FROM (
  SELECT format('process %s of %s (%s) is idle in a transaction', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'no name')) AS what,
    floor(extract(epoch FROM clock_timestamp() - a.state_change) * 1000)::bigint AS age_ms, $1::bigint AS most_ms
  FROM pg_stat_activity a WHERE a.datname = current_database() AND a.state LIKE 'idle in transaction%'
  UNION ALL
  SELECT format('process %s of %s (%s) has a transaction open', a.pid, a.usename, coalesce(nullif(a.application_name, ''), 'no name')),
    floor(extract(epoch FROM clock_timestamp() - a.xact_start) * 1000)::bigint, $2::bigint
  FROM pg_stat_activity a
  WHERE a.datname = current_database() AND a.state NOT LIKE 'idle%' AND (a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL)
  UNION ALL
  SELECT format('a prepared transaction of %s', p.owner), floor(extract(epoch FROM clock_timestamp() - p.prepared) * 1000)::bigint, $1::bigint
  FROM pg_prepared_xacts p WHERE p.database = current_database()
  UNION ALL
  SELECT format('the replication slot %s', s.slot_name), greatest(age(s.xmin), age(s.catalog_xmin))::bigint, 10000000
  FROM pg_replication_slots s WHERE s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL) h
WHERE h.age_ms >= h.most_ms ORDER BY h.age_ms DESC, h.what LIMIT 5;
