-- occurrence_ranges: ranges of a trigger that did not become runs, newest first.
-- params: trigger:id limit:int
-- columns: from_ms:int to_ms:int count:int count_exact:int outcome:text reason:text?
SELECT from_at_ms, to_at_ms, count, count_exact, outcome, reason FROM pawl.ledger WHERE trigger_id = $1 ORDER BY to_at_ms DESC, from_at_ms DESC LIMIT $2;
