-- kinds_get_many: rows by their ids.
-- params: id:id
-- columns: id:id n:int? t:text? b:blob? r:real?
-- only: postgres
-- many: yes
SELECT v.ord, k.id, k.n, k.t, k.b, k.r FROM unnest($1::uuid[]) WITH ORDINALITY AS v(id, ord) JOIN pawl.kinds AS k USING (id) ORDER BY v.ord;
