-- status_succeeded: runs above an id that ended well after an instant; counted up to a million.
-- params: from:id since_ms:int
-- columns: succeeded:int
SELECT count(*) FROM (SELECT 1 FROM pawl.attempts WHERE run_id >= $1 AND last AND state = 'succeeded' AND finished_at_ms > $2 LIMIT 1000000) a;
