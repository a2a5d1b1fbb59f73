-- schedule_insert: the schedule of a trigger that is published for the first time.
-- params: trigger:id task:id project:id trigger_revision:int task_revision:int armed:int cursor_ms:int? due_at_ms:int?
-- columns: -
INSERT INTO pawl.trigger_schedules (trigger_id, task_id, project_id, trigger_revision, task_revision, armed, next_fire_at_ms, due_at_ms, updated_at_ms)
VALUES ($1, $2, $3, $4, $5, $6 <> 0, $7, $8, pawl.now_ms());
