-- task_pause_end: ends the pause of a task whose end has come, under its row's lock; 0: it stands no more, or lasts longer by now.
-- params: task:id
-- columns: ended:int
-- only: postgres
SELECT pawl.end_pause($1);
