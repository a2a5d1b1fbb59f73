-- schema_exists: 1 when a pawl schema stands in this store, else 0.
-- It asks the catalogs and not to_regclass(), which fails for a role that may not use the schema.
-- params: -
-- columns: found:int
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = 'pawl' AND c.relname = 'migrations' AND c.relkind = 'r';
