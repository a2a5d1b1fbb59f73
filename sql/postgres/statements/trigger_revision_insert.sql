-- trigger_revision_insert: adds a revision of a trigger.
-- params: trigger:id revision:int digest:text spec:text now_ms:int
-- columns: -
INSERT INTO pawl.trigger_revisions (trigger_id, revision, digest, spec, created_at_ms) VALUES ($1, $2, $3, $4, $5);
