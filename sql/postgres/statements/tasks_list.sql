-- tasks_list: tasks with their newest spec: one by its name, archived or not, or all active ones.
-- params: project:text? name:text?
-- columns: task:id project:text name:text state:text paused_at_ms:int? pause_until_at_ms:int? pause_reason:text? paused_by:text? spec:text digest:text owner_mark:text? revision:int
SELECT t.id, p.name, t.name, t.state, t.paused_at_ms, t.pause_until_at_ms, t.pause_reason, t.paused_by,
  (SELECT v.spec FROM pawl.task_revisions v WHERE v.task_id = t.id AND v.revision = t.revision), t.digest, t.owner_mark, t.revision
FROM pawl.tasks t
JOIN pawl.projects p ON p.id = t.project_id
WHERE ($1 IS NULL OR p.name = $1) AND (($2 IS NULL AND t.state = 'active') OR t.name = $2)
ORDER BY t.name, p.name;
