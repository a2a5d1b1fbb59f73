-- cancel_delete: forgets the intent of a run that has ended.
-- params: run:id
-- columns: -
DELETE FROM pawl.cancels WHERE run_id = $1;
