-- ledger_insert: adds a range.
-- params: trigger:id from_at_ms:int to_at_ms:int outcome:text count:int exact:int reason:text?
-- columns: -
INSERT INTO pawl.ledger (trigger_id, from_at_ms, to_at_ms, outcome, count, count_exact, reason, recorded_at_ms)
VALUES ($1, $2, $3, $4, $5, $6 <> 0, $7, pawl.now_ms())
ON CONFLICT DO NOTHING;
