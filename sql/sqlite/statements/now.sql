-- now: the database's clock.
-- params: -
-- columns: now_ms:int
SELECT pawl_now_ms();
