-- runs_succeeded_before: runs below an id that ended well, newest first.
-- params: before:id limit:int
-- columns: run:id reason:text
SELECT run_id, '' FROM pawl.attempts WHERE run_id < $1 AND state = 'succeeded' ORDER BY run_id DESC LIMIT $2;
