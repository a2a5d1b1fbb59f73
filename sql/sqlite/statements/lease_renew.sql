-- lease_renew: renews a lease. Its end does not stand in the condition: one process holds the store, so nobody else can have taken it over, and a step of
-- the wall clock must not end what runs (the runner watches the end on a clock that does not step).
-- params: run:id attempt:int lease_version:int token_digest:text session:id lease_ms:int
-- columns: -
UPDATE leased SET expires_at_ms = max(pawl_now_ms(), acquired_at_ms) + ?6
WHERE run_id = ?1 AND attempt = ?2 AND lease_version = ?3 AND token_digest = ?4 AND session_id = ?5;
