-- pull_too_late: waiting rows whose latest start has passed.
-- params: limit:int
-- columns: run:id
SELECT run_id FROM (
  SELECT run_id FROM ready WHERE start_by_at_ms < (SELECT pawl_now_ms())
  UNION ALL SELECT run_id FROM parked WHERE start_by_at_ms < (SELECT pawl_now_ms()))
LIMIT ?1;
