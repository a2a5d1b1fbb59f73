-- retention_subjects: ids of tasks, triggers and pools above an id, in order.
-- params: after:id limit:int
-- columns: subject:id
SELECT id FROM (
  SELECT id FROM (SELECT id FROM pawl.tasks WHERE id > $1 ORDER BY id LIMIT $2) a
  UNION ALL SELECT id FROM (SELECT id FROM pawl.triggers WHERE id > $1 ORDER BY id LIMIT $2) b
  UNION ALL SELECT id FROM (SELECT id FROM pawl.pools WHERE id > $1 ORDER BY id LIMIT $2) c) d
ORDER BY id LIMIT $2;
