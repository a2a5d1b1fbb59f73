-- doctor_tables: tables and indexes that this schema has.
-- params: -
-- columns: count:int
SELECT count(*) FROM pg_class c WHERE c.relnamespace = to_regnamespace('pawl') AND c.relkind IN ('r', 'p', 'i', 'I', 'v');
