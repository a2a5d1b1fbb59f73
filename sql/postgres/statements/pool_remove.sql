-- pool_remove: deletes a pool that no unfinished run stands in; its row and id stay for a pool of the same name.
-- params: pool:id
-- columns: -
UPDATE pawl.pools SET state = 'deleted', owner_mark = NULL, slots_override = NULL, updated_at_ms = pawl.now_ms()
WHERE id = $1 AND state <> 'deleted'
  AND NOT EXISTS (SELECT 1 FROM pawl.ready WHERE pool_id = $1)
  AND NOT EXISTS (SELECT 1 FROM pawl.leased WHERE pool_id = $1)
  AND NOT EXISTS (SELECT 1 FROM pawl.parked WHERE pool_id = $1);
