-- trigger_archive: takes a trigger away; its id, high-water mark and revisions stay.
-- params: trigger:id
-- columns: -
UPDATE pawl.triggers SET state = 'archived', updated_at_ms = pawl.now_ms() WHERE id = $1 AND state = 'active';
