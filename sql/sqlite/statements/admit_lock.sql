-- admit_lock: locks a schedule row for its settlement.
-- params: trigger:id
-- columns: trigger:id
SELECT trigger_id FROM trigger_schedules WHERE trigger_id = ?1;
