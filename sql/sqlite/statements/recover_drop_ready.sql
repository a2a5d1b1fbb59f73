-- recover_drop_ready: removes a drifted row from ready.
-- params: run:id
-- columns: -
DELETE FROM ready WHERE run_id = ?1;
