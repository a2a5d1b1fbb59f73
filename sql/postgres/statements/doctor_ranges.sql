-- doctor_ranges: the ranges of history: how many, and for how long from now there are some.
-- params: -
-- columns: count:int ahead_ms:int
-- only: postgres
SELECT count(*) FILTER (WHERE to_ms IS NOT NULL), coalesce(max(to_ms), 0) - pawl.now_ms() FROM pawl.partitions() WHERE parent = 'runs';
