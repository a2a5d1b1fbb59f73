-- admit_check: a claimed row, if it is still as it was claimed and its project runs.
-- The row is locked, and what may forbid the admission bumps its state_version.
-- params: trigger:id state_version:int cursor_ms:int
-- columns: now_ms:int
SELECT pawl.now_ms()
FROM pawl.trigger_schedules s
JOIN pawl.projects p ON p.id = s.project_id
WHERE s.trigger_id = $1 AND s.state_version = $2 AND s.next_fire_at_ms = $3 AND s.armed AND p.state = 'active'
FOR NO KEY UPDATE OF s;
