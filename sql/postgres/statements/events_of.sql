-- events_of: facts about a subject after a number, in order; at most 10,000.
-- params: subject:id after_seq:int
-- columns: seq:int at_ms:int kind:text data:text? attempt:int? machine_row:int?
SELECT seq, at_ms, kind, data, attempt, machine_row FROM (
  SELECT seq, at_ms, kind, data, attempt, machine_row FROM pawl.events WHERE subject = $1 AND seq > $2
  UNION ALL SELECT seq, at_ms, kind, data, NULL, NULL FROM pawl.facts WHERE subject = $1 AND seq > $2) e
ORDER BY seq LIMIT 10000;
