-- unordered_many: gives its rows in the wrong order.
-- params: n:int
-- columns: n:int
-- only: postgres
-- many: yes
SELECT v.ord, v.n FROM unnest($1::bigint[]) WITH ORDINALITY AS v(n, ord) ORDER BY v.ord DESC;
