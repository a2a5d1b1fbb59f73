-- pull_task_use: leased attempts of a task: all, and those born of triggers.
-- params: task:id
-- columns: active:int active_born:int
SELECT count(*), count(*) FILTER (WHERE trigger_born) FROM pawl.leased WHERE task_id = $1;
