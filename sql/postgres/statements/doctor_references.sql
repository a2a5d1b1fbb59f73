-- doctor_references: rows whose parent is missing.
-- params: -
-- columns: count:int
SELECT (SELECT count(*) FROM pawl.tasks t WHERE NOT EXISTS (SELECT 1 FROM pawl.projects p WHERE p.id = t.project_id))
  + (SELECT count(*) FROM pawl.triggers g WHERE NOT EXISTS (SELECT 1 FROM pawl.tasks t WHERE t.id = g.task_id))
  + (SELECT count(*) FROM pawl.triggers g WHERE NOT EXISTS (SELECT 1 FROM pawl.trigger_schedules s WHERE s.trigger_id = g.id))
  + (SELECT count(*) FROM pawl.triggers g WHERE NOT EXISTS (SELECT 1 FROM pawl.trigger_revisions v WHERE v.trigger_id = g.id AND v.revision = g.revision))
  + (SELECT count(*) FROM pawl.tasks t WHERE NOT EXISTS (SELECT 1 FROM pawl.task_revisions v WHERE v.task_id = t.id AND v.revision = t.revision));
