-- kinds_get: one row.
-- params: id:id
-- columns: id:id n:int? t:text? b:blob? r:real?
SELECT id, n, t, b, r FROM pawl.kinds WHERE id = $1;
