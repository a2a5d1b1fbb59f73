-- waiting_ready: whether anything is ready.
-- params: -
-- columns: ready:int
SELECT EXISTS (SELECT 1 FROM pawl.ready);
