-- cancel_reason: why a run is to be cancelled.
-- params: run:id
-- columns: reason:text
SELECT reason FROM cancels WHERE run_id = ?1;
