-- retention_page: runs above an id and below another, oldest first, with the instant of their end; null: not ended.
-- params: after:id below:id limit:int
-- columns: run:id origin:text finished_at_ms:int?
SELECT r.id, r.origin, (SELECT a.finished_at_ms FROM pawl.attempts a WHERE a.run_id = r.id AND a.last)
FROM pawl.runs r WHERE r.id > $1 AND r.id < $2 ORDER BY r.id LIMIT $3;
