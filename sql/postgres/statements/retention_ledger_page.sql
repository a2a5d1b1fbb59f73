-- retention_ledger_page: the newest instant among the oldest rows of the ledger that were recorded before an instant.
-- params: before_ms:int limit:int
-- columns: count:int recorded_at_ms:int?
SELECT count(*), max(recorded_at_ms) FROM (SELECT recorded_at_ms FROM pawl.ledger WHERE recorded_at_ms < $1 ORDER BY recorded_at_ms LIMIT $2) l;
