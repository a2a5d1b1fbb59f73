-- finish_late: records a late report, once per attempt and lease version.
-- params: run:id attempt:int data:text
-- columns: -
INSERT INTO events (subject, seq, at_ms, kind, attempt, data)
SELECT ?1, coalesce((SELECT max(seq) FROM events WHERE subject = ?1), 0) + 1, pawl_now_ms(), 'attempt.late_report', ?2, ?3
WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1)
  AND NOT EXISTS (SELECT 1 FROM events WHERE subject = ?1 AND kind = 'attempt.late_report' AND attempt = ?2 AND data = ?3);
