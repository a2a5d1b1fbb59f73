-- trigger_insert: makes a trigger.
-- params: trigger:id task:id name:text digest:text now_ms:int
-- columns: -
INSERT INTO pawl.triggers (id, task_id, name, state, revision, digest, created_at_ms, updated_at_ms) VALUES ($1, $2, $3, 'active', 1, $4, $5, $5);
