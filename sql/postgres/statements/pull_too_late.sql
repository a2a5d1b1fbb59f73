-- pull_too_late: waiting rows whose latest start has passed.
-- Locked: whoever else moves one of them is left to it.
-- params: limit:int
-- columns: run:id
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now),
r AS MATERIALIZED (
  SELECT run_id FROM pawl.ready WHERE start_by_at_ms < (SELECT now FROM t) ORDER BY start_by_at_ms, run_id LIMIT $1 FOR UPDATE SKIP LOCKED),
k AS MATERIALIZED (
  SELECT run_id FROM pawl.parked WHERE start_by_at_ms < (SELECT now FROM t) ORDER BY start_by_at_ms, run_id LIMIT $1 FOR UPDATE SKIP LOCKED)
SELECT run_id FROM r UNION ALL SELECT run_id FROM k LIMIT $1;
