-- runs_before: runs below an id, newest first.
-- params: before:id limit:int
-- columns: run:id trigger:id? origin:text
SELECT id, trigger_id, origin FROM pawl.runs WHERE id < $1 ORDER BY id DESC LIMIT $2;
