-- step_list: all parts.
-- params: -
-- columns: step:int part:int bytes:blob
SELECT step, part, bytes FROM pawl.steps ORDER BY step, part;
