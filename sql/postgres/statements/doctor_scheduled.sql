-- doctor_scheduled: the newest scheduled runs among the newest million, with what their id is derived from.
-- params: limit:int
-- columns: run:id trigger:id nominal_at_ms:int
SELECT id, trigger_id, coalesce(nominal_at_ms, -1)
FROM (SELECT id, trigger_id, nominal_at_ms, origin FROM pawl.runs ORDER BY id DESC LIMIT 1000000) r
WHERE origin = 'schedule' ORDER BY id DESC LIMIT $1;
