-- ledger_extend: makes a range longer.
-- params: trigger:id from_at_ms:int to_at_ms:int outcome:text new_to_at_ms:int added:int exact:int
-- columns: -
UPDATE pawl.ledger SET to_at_ms = $5, count = count + $6, count_exact = count_exact AND $7 <> 0, recorded_at_ms = pawl.now_ms()
WHERE trigger_id = $1 AND from_at_ms = $2 AND to_at_ms = $3 AND outcome = $4;
