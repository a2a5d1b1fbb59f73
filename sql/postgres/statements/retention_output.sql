-- retention_output: deletes the output of a run.
-- params: run:id
-- columns: -
DELETE FROM pawl.output WHERE run_id = $1;
