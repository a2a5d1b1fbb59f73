-- doctor_tables: tables and indexes that this schema has.
-- params: -
-- columns: count:int
SELECT count(*) FROM sqlite_master WHERE name NOT LIKE 'sqlite_%';
