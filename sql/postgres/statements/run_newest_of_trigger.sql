-- run_newest_of_trigger: the newest run of a trigger among the newest 100,000 of its task.
-- params: task:id trigger:id
-- columns: run:id
SELECT n.id FROM (SELECT id FROM pawl.runs WHERE task_id = $1 ORDER BY id DESC LIMIT 100000) n
JOIN pawl.runs r ON r.id = n.id WHERE r.trigger_id = $2 ORDER BY n.id DESC LIMIT 1;
