-- lease_renew: renews a lease that has not run out: past its end somebody else may settle it.
-- params: run:id attempt:int lease_version:int token_digest:text session:id lease_ms:int
-- columns: -
UPDATE pawl.leased SET expires_at_ms = greatest(pawl.now_ms(), acquired_at_ms) + $6
WHERE run_id = $1 AND attempt = $2 AND lease_version = $3 AND token_digest = $4 AND session_id = $5 AND expires_at_ms > pawl.now_ms();
