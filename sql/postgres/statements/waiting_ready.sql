-- waiting_ready: whether anything is ready.
-- By an index, which forgets what was deleted; the heap of a queue has many dead rows in front.
-- params: -
-- columns: ready:int
SELECT (SELECT 1 FROM pawl.ready ORDER BY pool_id, order_key, run_id LIMIT 1) IS NOT NULL;
