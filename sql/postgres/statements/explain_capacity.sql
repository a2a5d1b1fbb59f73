-- explain_capacity: sessions that are open, their capacity and what they hold.
-- params: -
-- columns: sessions:int capacity:int? held:int
SELECT (SELECT count(*) FROM pawl.workers WHERE ended_at_ms IS NULL), (SELECT sum(capacity) FROM pawl.workers WHERE ended_at_ms IS NULL), (SELECT count(*) FROM pawl.leased);
