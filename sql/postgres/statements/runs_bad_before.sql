-- runs_bad_before: runs that ended otherwise than well, by the instant of their end, newest first.
-- params: finished_at_ms:int before:id limit:int
-- columns: run:id finished_at_ms:int state:text
SELECT run_id, finished_at_ms, state FROM pawl.attempts
WHERE state <> 'succeeded' AND last AND (finished_at_ms, run_id) < ($1, $2)
ORDER BY finished_at_ms DESC, run_id DESC LIMIT $3;
