-- fact_append: appends an event to a subject that is no run: a task, trigger or pool.
-- params: subject:id kind:text data:text?
-- columns: -
INSERT INTO events (subject, seq, at_ms, kind, data)
VALUES (?1, coalesce((SELECT max(seq) FROM events WHERE subject = ?1), 0) + 1, pawl_now_ms(), ?2, ?3);
