-- runs_ready_before: runs in ready below an id, newest first.
-- params: before:id limit:int
-- columns: run:id reason:text
SELECT run_id, '' FROM pawl.ready WHERE run_id < $1 ORDER BY run_id DESC LIMIT $2;
