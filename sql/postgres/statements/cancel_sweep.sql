-- cancel_sweep: settles what cancel intents were left over, at most so many.
-- params: limit:int
-- columns: settled:int
-- only: postgres
SELECT pawl.sweep_cancels($1::integer);
