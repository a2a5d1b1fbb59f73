-- finish_output_until: until when the output of a run is kept.
-- params: run:id keep_ms:int
-- columns: -
INSERT INTO pawl.output_until (run_id, until_at_ms) VALUES ($1, pawl.now_ms() + $2)
ON CONFLICT (run_id) DO UPDATE SET until_at_ms = excluded.until_at_ms;
