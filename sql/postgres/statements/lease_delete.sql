-- lease_delete: ends a lease under its fence.
-- params: run:id attempt:int lease_version:int token_digest:text?
-- columns: -
DELETE FROM pawl.leased WHERE run_id = $1 AND attempt = $2 AND lease_version = $3 AND ($4 IS NULL OR token_digest = $4);
