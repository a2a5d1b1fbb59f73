-- trigger_find: a trigger by its name, archived or not.
-- params: task:id name:text
-- columns: trigger:id state:text revision:int
SELECT id, state, revision FROM pawl.triggers WHERE task_id = $1 AND name = $2;
