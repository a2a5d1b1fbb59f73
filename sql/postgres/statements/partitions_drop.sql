-- partitions_drop: drops the ranges of history that lie before an instant, oldest first.
-- params: before_ms:int
-- columns: range:text dropped:int reason:text?
-- only: postgres
SELECT range, dropped, reason FROM pawl.drop_partitions($1);
