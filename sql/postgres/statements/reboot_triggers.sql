-- reboot_triggers: active @reboot triggers that have not fired for this boot.
-- params: boot_at_ms:int
-- columns: trigger:id task:id project:id trigger_revision:int task_revision:int state_version:int last_admitted_ms:int
SELECT s.trigger_id, s.task_id, s.project_id, s.trigger_revision, s.task_revision, s.state_version, s.last_admitted_at_ms
FROM pawl.trigger_schedules s
JOIN pawl.triggers g ON g.id = s.trigger_id
JOIN pawl.tasks t ON t.id = s.task_id
JOIN pawl.trigger_revisions v ON v.trigger_id = s.trigger_id AND v.revision = s.trigger_revision
WHERE s.next_fire_at_ms IS NULL AND s.last_scheduled_at_ms < $1 AND g.state = 'active' AND t.state = 'active' AND t.paused_at_ms IS NULL
  AND s.paused_at_ms IS NULL AND v.spec::json ->> 'cron' LIKE '%@reboot%' AND v.spec::json ->> 'enabled' IS DISTINCT FROM 'false'
ORDER BY s.trigger_id;
