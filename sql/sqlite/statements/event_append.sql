-- event_append: appends an event to a run.
-- params: subject:id kind:text attempt:int? machine_row:int? data:text?
-- columns: -
INSERT INTO events (subject, seq, at_ms, kind, attempt, machine_row, data)
VALUES (?1, coalesce((SELECT max(seq) FROM events WHERE subject = ?1), 0) + 1, pawl_now_ms(), ?2, ?3, ?4, ?5);
