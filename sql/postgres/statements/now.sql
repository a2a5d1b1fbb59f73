-- now: the database's clock.
-- params: -
-- columns: now_ms:int
SELECT pawl.now_ms();
