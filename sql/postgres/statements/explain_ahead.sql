-- explain_ahead: how many runs a pool hands out before this one; counted up to 100,000.
-- params: pool:id order_key:int run:id
-- columns: ahead:int
SELECT count(*) FROM (SELECT 1 FROM pawl.ready WHERE pool_id = $1 AND (order_key, run_id) < ($2, $3) LIMIT 100000) a;
