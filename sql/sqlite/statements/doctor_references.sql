-- doctor_references: rows whose parent is missing.
-- params: -
-- columns: count:int
SELECT (SELECT count(*) FROM tasks t WHERE NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = t.project_id))
  + (SELECT count(*) FROM triggers g WHERE NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = g.task_id))
  + (SELECT count(*) FROM triggers g WHERE NOT EXISTS (SELECT 1 FROM trigger_schedules s WHERE s.trigger_id = g.id))
  + (SELECT count(*) FROM triggers g WHERE NOT EXISTS (SELECT 1 FROM trigger_revisions v WHERE v.trigger_id = g.id AND v.revision = g.revision))
  + (SELECT count(*) FROM tasks t WHERE NOT EXISTS (SELECT 1 FROM task_revisions v WHERE v.task_id = t.id AND v.revision = t.revision));
