-- retention_output_until: forgets until when output was kept.
-- params: run:id
-- columns: -
DELETE FROM pawl.output_until WHERE run_id = $1;
