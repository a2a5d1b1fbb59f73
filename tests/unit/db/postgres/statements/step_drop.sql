-- step_drop: deletes the parts of a transaction.
-- params: step:int
-- columns: -
DELETE FROM pawl.steps WHERE step = $1;
