-- schedules_lock_task: takes the schedule rows of a task, in the order of their ids.
-- params: task:id
-- columns: -
-- only: postgres
SELECT FROM pawl.trigger_schedules s WHERE s.task_id = $1 ORDER BY s.trigger_id FOR NO KEY UPDATE OF s;
