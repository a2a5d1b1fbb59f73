-- now_thrice: the clock for three rows, and through a view.
-- params: -
-- columns: now_ms:int
SELECT pawl.now_ms() FROM (VALUES (1), (2), (3), (4)) AS v;
