-- migration_insert: records that a script ran.
-- params: number:int name:text digest:text
-- columns: -
INSERT INTO pawl.migrations (number, name, digest, applied_at_ms) VALUES ($1, $2, $3, pawl.now_ms());
