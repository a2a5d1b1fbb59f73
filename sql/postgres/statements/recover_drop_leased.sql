-- recover_drop_leased: removes a drifted row from leased.
-- params: run:id
-- columns: -
DELETE FROM pawl.leased WHERE run_id = $1;
