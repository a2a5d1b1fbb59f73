-- pg_widths: integers of every width, and yes and no.
-- only: postgres
-- params: -
-- columns: small:int four:int eight:int yes:int no:int
SELECT '-2'::smallint, '-3'::integer, '-4'::bigint, true, false;
