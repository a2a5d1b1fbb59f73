-- measure_parked: what is parked, by reason.
-- params: -
-- columns: reason:text parked:int
SELECT reason, count(*) FROM pawl.parked GROUP BY reason;
