-- schema_exists: 1 when a pawl schema stands in this store, else 0.
-- params: -
-- columns: found:int
SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'migrations';
