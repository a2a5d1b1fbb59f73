-- kinds_add_many: adds rows with one of each type; those that are there are left alone.
-- params: id:id n:int? t:text? b:blob? r:real?
-- columns: -
-- only: postgres
-- many: yes
WITH v AS (SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bytea[], $5::float8[]) WITH ORDINALITY AS u(id, n, t, b, r, ord)),
  i AS (INSERT INTO pawl.kinds (id, n, t, b, r) SELECT id, n, t, b, r FROM v ON CONFLICT DO NOTHING RETURNING id)
SELECT v.ord FROM v JOIN i USING (id) ORDER BY v.ord;
