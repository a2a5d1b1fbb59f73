-- task_owners: how many active tasks each ownership mark has.
-- params: -
-- columns: owner_mark:text? tasks:int
SELECT owner_mark, count(*) FROM pawl.tasks WHERE state = 'active' GROUP BY owner_mark;
