-- event_add: appends a fact to a run, a trigger, a task or a pool; facts of a subject are numbered from 1.
-- params: subject:id kind:text attempt:int? machine_row:int? data:text?
-- columns: -
INSERT INTO events (subject, seq, at_ms, kind, attempt, machine_row, data)
VALUES (?1, (SELECT coalesce(max(seq), 0) + 1 FROM events WHERE subject = ?1), pawl_now_ms(), ?2, ?3, ?4, ?5);
