-- lease_start: records that the work of a granted attempt is about to be executed, while its lease lasts.
-- params: run:id attempt:int lease_version:int token_digest:text boot_id:text? pid:int? start_ticks:int?
-- columns: -
UPDATE pawl.leased SET started_at_ms = pawl.now_ms(), boot_id = $5, pid = $6, start_ticks = $7
WHERE run_id = $1 AND attempt = $2 AND lease_version = $3 AND token_digest = $4 AND started_at_ms IS NULL AND expires_at_ms > pawl.now_ms()
  AND NOT EXISTS (SELECT 1 FROM pawl.cancels c WHERE c.run_id = leased.run_id);
