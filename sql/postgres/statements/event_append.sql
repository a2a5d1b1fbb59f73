-- event_append: appends an event to its subject.
-- seq comes from one sequence and needs no lock: two writers of a subject (a canceller beside the worker that finishes) never get the same
-- number, and who begins after another has committed gets a higher one. Events of tasks, triggers and pools stand in facts.
-- params: subject:id kind:text attempt:int? machine_row:int? data:text?
-- columns: -
WITH fact AS (
  INSERT INTO pawl.facts (subject, at_ms, kind, attempt, machine_row, data)
  SELECT $1, pawl.now_ms(), $2, $3, $4, $5 WHERE split_part($2, '.', 1) NOT IN ('run', 'attempt'))
INSERT INTO pawl.events (subject, at_ms, kind, attempt, machine_row, data)
SELECT $1, pawl.now_ms(), $2, $3, $4, $5 WHERE split_part($2, '.', 1) IN ('run', 'attempt');
