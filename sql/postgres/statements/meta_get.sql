-- meta_get: one value of the table of odds and ends.
-- params: key:text
-- columns: value:text
SELECT value FROM pawl.meta WHERE key = $1;
