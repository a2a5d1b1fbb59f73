-- step_put: adds a part of a numbered transaction, one row at a time.
-- params: step:int part:int bytes:blob
-- columns: -
-- only: postgres
INSERT INTO pawl.steps (step, part, bytes) VALUES ($1, $2, $3);
