-- spec_task: the spec of a task revision.
-- params: task:id revision:int
-- columns: spec:text digest:text
SELECT spec, digest FROM pawl.task_revisions WHERE task_id = $1 AND revision = $2;
