-- partitions_ensure: makes the ranges of history that are to come.
-- params: -
-- columns: made:int
-- only: postgres
SELECT pawl.ensure_partitions();
