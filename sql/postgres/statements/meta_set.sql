-- meta_set: sets one value of the table of odds and ends.
-- params: key:text value:text
-- columns: -
INSERT INTO pawl.meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
