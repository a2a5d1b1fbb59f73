-- admit_check: a claimed row, if it is still as it was claimed and its project runs.
-- params: trigger:id state_version:int cursor_ms:int
-- columns: now_ms:int
SELECT pawl_now_ms()
FROM trigger_schedules s
JOIN projects p ON p.id = s.project_id
WHERE s.trigger_id = ?1 AND s.state_version = ?2 AND s.next_fire_at_ms = ?3 AND s.armed = 1 AND p.state = 'active';
