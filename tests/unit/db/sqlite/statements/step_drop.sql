-- step_drop: deletes the parts of a transaction.
-- params: step:int
-- columns: -
DELETE FROM steps WHERE step = ?1;
