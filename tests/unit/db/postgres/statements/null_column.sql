-- null_column: an aggregate over nothing, declared as never null.
-- params: -
-- columns: most:int
SELECT max(value) FROM pawl.counters WHERE false;
