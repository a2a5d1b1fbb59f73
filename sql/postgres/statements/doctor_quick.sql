-- doctor_quick: a server checks its pages itself (data checksums, pg_amcheck), so there is nothing to say here.
-- params: -
-- columns: text:text
SELECT 'ok'::text;
