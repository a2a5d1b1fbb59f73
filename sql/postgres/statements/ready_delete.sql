-- ready_delete: takes an attempt out of ready.
-- params: run:id attempt:int
-- columns: -
DELETE FROM pawl.ready WHERE run_id = $1 AND attempt = $2;
