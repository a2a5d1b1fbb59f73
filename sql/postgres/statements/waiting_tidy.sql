-- waiting_tidy: moves what would wait for ever: in deleted pools, or parked by a pause or a limit that is none any more.
-- params: limit:int
-- columns: moved:int
-- only: postgres
SELECT pawl.tidy_waiting($1::integer);
