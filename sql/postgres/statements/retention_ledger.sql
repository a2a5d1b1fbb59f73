-- retention_ledger: deletes rows of the ledger that were recorded up to an instant and before another.
-- params: up_to_ms:int before_ms:int
-- columns: -
DELETE FROM pawl.ledger WHERE recorded_at_ms <= $1 AND recorded_at_ms < $2;
