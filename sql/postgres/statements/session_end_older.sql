-- session_end_older: ends sessions of that name that a newer one replaces, and forgets those that ended long ago.
-- params: session:id name:text
-- columns: -
WITH c AS MATERIALIZED (
  SELECT session_id FROM pawl.workers WHERE name = $2 AND session_id <> $1 AND ended_at_ms IS NULL ORDER BY session_id FOR NO KEY UPDATE)
UPDATE pawl.workers w SET ended_at_ms = pawl.now_ms()
FROM c WHERE w.session_id = c.session_id AND w.name = $2 AND w.session_id <> $1 AND w.ended_at_ms IS NULL;
