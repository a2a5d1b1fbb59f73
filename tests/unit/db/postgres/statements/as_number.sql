-- as_number: a text that may be no number.
-- params: t:text
-- columns: n:int
-- only: postgres
SELECT $1::bigint;
