-- retention_ledger: deletes rows of the ledger that were recorded up to an instant and before another.
-- What an admission is making longer just now is passed by.
-- params: up_to_ms:int before_ms:int
-- columns: -
WITH c AS MATERIALIZED (
  SELECT trigger_id, from_at_ms, to_at_ms, outcome FROM pawl.ledger
  WHERE recorded_at_ms <= $1 AND recorded_at_ms < $2 ORDER BY recorded_at_ms FOR UPDATE SKIP LOCKED)
DELETE FROM pawl.ledger l USING c
WHERE l.trigger_id = c.trigger_id AND l.to_at_ms = c.to_at_ms AND l.from_at_ms = c.from_at_ms AND l.outcome = c.outcome
  AND l.recorded_at_ms <= $1 AND l.recorded_at_ms < $2;
