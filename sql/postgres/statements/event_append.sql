-- event_append: appends events to runs, in the order given.
-- seq comes from one sequence and needs no lock: two writers of a subject (a canceller beside the worker that finishes) never get the same
-- number, and who begins after another has committed gets a higher one.
-- params: subject:id kind:text attempt:int? machine_row:int? data:text?
-- columns: -
-- many: yes
WITH event AS (
  INSERT INTO pawl.events (subject, at_ms, kind, attempt, machine_row, data)
  SELECT subject, pawl.now_ms(), kind, attempt, machine_row, data
  FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) WITH ORDINALITY AS v(subject, kind, attempt, machine_row, data, ord)
  ORDER BY ord)
SELECT 1 WHERE false;
