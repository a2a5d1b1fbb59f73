-- rearm_quarantined: arms what has been put aside for long enough.
-- params: -
-- columns: -
UPDATE trigger_schedules
SET armed = 1, quarantined_at_ms = NULL, quarantine_until_at_ms = NULL, state_version = state_version + 1, updated_at_ms = pawl_now_ms()
WHERE quarantine_until_at_ms <= (SELECT pawl_now_ms()) AND armed = 0 AND next_fire_at_ms IS NOT NULL AND paused_at_ms IS NULL
  AND EXISTS (SELECT 1 FROM triggers g JOIN tasks t ON t.id = g.task_id
    WHERE g.id = trigger_schedules.trigger_id AND g.state = 'active' AND t.state = 'active' AND t.paused_at_ms IS NULL);
