-- finish_recorded: the end that is recorded for an attempt.
-- params: run:id attempt:int
-- columns: state:text lease_version:int
SELECT state, lease_version FROM pawl.attempts WHERE run_id = $1 AND attempt = $2;
