-- expired_trigger_pauses: triggers whose own pause has come to its end.
-- params: -
-- columns: trigger:id until_at_ms:int
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
SELECT trigger_id, pause_until_at_ms FROM pawl.trigger_schedules WHERE pause_until_at_ms <= (SELECT now FROM t) ORDER BY trigger_id;
