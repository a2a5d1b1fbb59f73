-- output_drop: forgets parts that fell out of the cap.
-- params: run:id attempt:int from_seq:int before_seq:int
-- columns: -
DELETE FROM pawl.output WHERE run_id = $1 AND attempt = $2 AND seq >= $3 AND seq < $4;
