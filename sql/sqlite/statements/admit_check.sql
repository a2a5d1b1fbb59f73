-- admit_check: the fence of an admission: the clock, if the row is as it was claimed and may be admitted.
-- params: trigger:id trigger_revision:int task_revision:int state_version:int cursor_ms:int claim_version:int claim_token:id?
-- params: acquired_at_ms:int
-- columns: now_ms:int
SELECT pawl_now_ms()
FROM trigger_schedules s
JOIN projects p ON p.id = s.project_id
WHERE s.trigger_id = ?1 AND s.trigger_revision = ?2 AND s.task_revision = ?3 AND s.state_version = ?4 AND s.next_fire_at_ms = ?5
  AND s.claim_version = ?6 AND s.claim_token IS ?7 AND (s.claim_acquired_at_ms IS NULL OR s.claim_acquired_at_ms = ?8)
  AND s.armed = 1 AND p.state = 'active';
