-- meta_raise: sets a number that only ever rises.
-- params: key:text value:int
-- columns: -
INSERT INTO pawl.meta (key, value) VALUES ($1, $2::text)
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE meta.value::bigint < excluded.value::bigint;
