-- now_thrice: the clock for three rows, and through a view.
-- params: -
-- columns: now_ms:int
SELECT pawl_now_ms() FROM (VALUES (1), (2), (3)) UNION ALL SELECT now_ms FROM v_now;
