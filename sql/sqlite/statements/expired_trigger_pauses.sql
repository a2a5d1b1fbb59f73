-- expired_trigger_pauses: triggers whose own pause has come to its end.
-- params: -
-- columns: trigger:id until_at_ms:int
SELECT trigger_id, pause_until_at_ms FROM trigger_schedules WHERE pause_until_at_ms <= (SELECT pawl_now_ms()) ORDER BY trigger_id;
