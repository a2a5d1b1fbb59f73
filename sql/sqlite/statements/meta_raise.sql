-- meta_raise: sets a number that only ever rises.
-- params: key:text value:int
-- columns: -
INSERT INTO meta (key, value) VALUES (?1, CAST(?2 AS TEXT))
ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE CAST(meta.value AS INTEGER) < CAST(excluded.value AS INTEGER);
