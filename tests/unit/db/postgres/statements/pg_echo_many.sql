-- pg_echo_many: what went in as arrays comes out, for rows whose n is even or null.
-- only: postgres
-- params: n:int? t:text? b:blob? r:real? d:id?
-- columns: n:int? t:text? b:blob? r:real? d:id?
-- many: yes
SELECT v.ord, v.n, v.t, v.b, v.r, v.d
FROM unnest($1::bigint[], $2::text[], $3::bytea[], $4::float8[], $5::uuid[]) WITH ORDINALITY AS v(n, t, b, r, d, ord)
WHERE v.n IS NULL OR v.n % 2 = 0 ORDER BY v.ord;
