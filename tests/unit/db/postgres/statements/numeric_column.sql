-- numeric_column: a type that the port does not read.
-- params: -
-- columns: n:int
-- only: postgres
SELECT 1.5::numeric;
