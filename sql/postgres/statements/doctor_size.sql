-- doctor_size: bytes of the schema, with its indexes.
-- params: -
-- columns: bytes:int
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c WHERE c.relnamespace = to_regnamespace('pawl') AND c.relkind = 'r';
