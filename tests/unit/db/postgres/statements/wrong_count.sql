-- wrong_count: declares one column of two.
-- params: -
-- columns: n:int
SELECT 1, 2;
