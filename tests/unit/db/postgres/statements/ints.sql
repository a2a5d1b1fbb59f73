-- ints: whole numbers of each width, and a boolean of each kind.
-- params: -
-- columns: yes:int no:int small:int middle:int big:int none:int?
-- only: postgres
SELECT true, false, (-32768)::smallint, (-2147483648)::integer, (-9223372036854775808)::bigint, NULL::boolean;
