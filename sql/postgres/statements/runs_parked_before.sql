-- runs_parked_before: runs in parked below an id, newest first.
-- params: before:id limit:int
-- columns: run:id reason:text
SELECT run_id, reason FROM pawl.parked WHERE run_id < $1 ORDER BY run_id DESC LIMIT $2;
