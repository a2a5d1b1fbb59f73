-- doctor_accounted: 1 when a range of the ledger covers an occurrence of a trigger.
-- params: trigger:id nominal_at_ms:int
-- columns: found:int
SELECT EXISTS (SELECT 1 FROM (SELECT from_at_ms FROM pawl.ledger WHERE trigger_id = $1 AND to_at_ms >= $2 ORDER BY to_at_ms LIMIT 50) l WHERE l.from_at_ms <= $2);
