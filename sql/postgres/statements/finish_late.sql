-- finish_late: records a late report, once per attempt and lease version.
-- params: run:id attempt:int data:text
-- columns: -
INSERT INTO pawl.events (subject, at_ms, kind, attempt, data)
SELECT $1, pawl.now_ms(), 'attempt.late_report', $2, $3 WHERE EXISTS (SELECT 1 FROM pawl.runs WHERE id = $1)
ON CONFLICT DO NOTHING;
