-- migration_list: the scripts that made this schema, ascending.
-- params: -
-- columns: number:int name:text digest:text
SELECT number, name, digest FROM pawl.migrations ORDER BY number;
