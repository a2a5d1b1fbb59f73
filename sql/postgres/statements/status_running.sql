-- status_running: the longest running runs.
-- params: limit:int
-- columns: run:id
SELECT run_id FROM pawl.leased ORDER BY coalesce(started_at_ms, acquired_at_ms), run_id LIMIT $1;
