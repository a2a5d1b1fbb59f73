-- step_add: adds a part of a numbered transaction.
-- params: step:int part:int bytes:blob
-- columns: -
INSERT INTO steps (step, part, bytes) VALUES (?1, ?2, ?3);
