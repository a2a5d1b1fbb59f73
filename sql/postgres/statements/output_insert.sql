-- output_insert: a part of output, under the fence of its attempt.
-- params: run:id attempt:int lease_version:int seq:int at_ms:int stream:int bytes:blob
-- columns: -
INSERT INTO pawl.output (run_id, attempt, seq, at_ms, stream, bytes)
SELECT $1, $2, $4, $5, $6, $7 WHERE EXISTS (SELECT 1 FROM pawl.leased WHERE run_id = $1 AND attempt = $2 AND lease_version = $3)
ON CONFLICT (run_id, attempt, seq) DO NOTHING;
