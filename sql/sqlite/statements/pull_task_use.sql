-- pull_task_use: leased attempts of a task: all, and those born of triggers.
-- params: task:id
-- columns: active:int active_born:int
SELECT count(*), coalesce(sum(trigger_born), 0) FROM leased WHERE task_id = ?1;
