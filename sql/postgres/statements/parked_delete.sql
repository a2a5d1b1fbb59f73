-- parked_delete: takes an attempt out of parked.
-- params: run:id
-- columns: -
DELETE FROM pawl.parked WHERE run_id = $1;
