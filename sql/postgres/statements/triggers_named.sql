-- triggers_named: how many triggers have that name, archived ones too.
-- params: name:text
-- columns: count:int
SELECT count(*) FROM pawl.triggers WHERE name = $1;
