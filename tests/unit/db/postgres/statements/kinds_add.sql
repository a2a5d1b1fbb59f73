-- kinds_add: adds a row with one of each type.
-- params: id:id n:int? t:text? b:blob? r:real?
-- columns: -
INSERT INTO pawl.kinds (id, n, t, b, r) VALUES ($1, $2, $3, $4, $5);
