-- step_count: how many parts there are.
-- params: -
-- columns: n:int
SELECT count(*) FROM pawl.steps;
