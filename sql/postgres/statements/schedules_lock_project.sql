-- schedules_lock_project: takes the schedule rows of a project, in the order of their ids.
-- params: project:id
-- columns: -
-- only: postgres
SELECT FROM pawl.trigger_schedules s WHERE s.project_id = $1 ORDER BY s.trigger_id FOR NO KEY UPDATE OF s;
