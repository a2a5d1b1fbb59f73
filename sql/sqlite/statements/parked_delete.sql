-- parked_delete: takes an attempt out of parked.
-- params: run:id
-- columns: -
DELETE FROM parked WHERE run_id = ?1;
