-- ledger_last: the newest row of a trigger.
-- params: trigger:id
-- columns: from_at_ms:int to_at_ms:int outcome:text reason:text? count:int exact:int
SELECT from_at_ms, to_at_ms, outcome, reason, count, count_exact FROM pawl.ledger WHERE trigger_id = $1 ORDER BY to_at_ms DESC, from_at_ms DESC LIMIT 1;
