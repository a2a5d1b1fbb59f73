-- pool_override: slots set at run time; null gives the pool back to its file.
-- params: pool:id slots:int?
-- columns: -
UPDATE pawl.pools SET slots_override = $2, updated_at_ms = pawl.now_ms() WHERE id = $1 AND state <> 'deleted';
