-- recover_expired: takes a lease that has run out, if it is still that one and nobody else settles it. A lease that was renewed since it was
-- read as run out is left alone.
-- params: run:id attempt:int lease_version:int
-- columns: run:id
-- only: postgres
SELECT run_id FROM pawl.leased
WHERE run_id = $1 AND attempt = $2 AND lease_version = $3 AND expires_at_ms <= pawl.now_ms()
FOR UPDATE SKIP LOCKED;
