-- session_end_older: ends sessions of that name that a newer one replaces, and forgets those that ended long ago.
-- params: session:id name:text
-- columns: -
UPDATE workers SET ended_at_ms = pawl_now_ms() WHERE name = ?2 AND session_id <> ?1 AND ended_at_ms IS NULL;
