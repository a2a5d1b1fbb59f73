-- recover_drop_ready: removes a drifted row from ready.
-- params: run:id
-- columns: -
DELETE FROM pawl.ready WHERE run_id = $1;
