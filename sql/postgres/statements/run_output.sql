-- run_output: parts of a run's output after one of them, in order; at most 512.
-- params: run:id after_attempt:int after_seq:int
-- columns: attempt:int seq:int at_ms:int stream:int bytes:blob
SELECT attempt, seq, at_ms, stream, bytes FROM pawl.output
WHERE run_id = $1 AND (attempt, seq) > ($2, $3) ORDER BY attempt, seq LIMIT 512;
