-- event_append: appends an event to a run.
-- seq comes from one sequence and needs no lock: two writers of a subject (a canceller beside the worker that finishes) never get the same
-- number, and who begins after another has committed gets a higher one.
-- params: subject:id kind:text attempt:int? machine_row:int? data:text?
-- columns: -
INSERT INTO pawl.events (subject, at_ms, kind, attempt, machine_row, data) VALUES ($1, pawl.now_ms(), $2, $3, $4, $5);
