-- trigger_publish: points a trigger at a revision of it, and makes it active.
-- params: trigger:id revision:int digest:text now_ms:int
-- columns: -
UPDATE pawl.triggers SET state = 'active', revision = $2, digest = $3, updated_at_ms = $4 WHERE id = $1;
