-- echo: what went in comes out; the types as SQLite names them.
-- params: n:int? t:text? b:blob? r:real?
-- params: d:id?
-- columns: n:int? t:text? b:blob? r:real? d:id? types:text
SELECT $1, $2, $3, $4, $5,
  CASE WHEN $1 IS NULL THEN 'null' ELSE 'integer' END || ' ' || CASE WHEN $2 IS NULL THEN 'null' ELSE 'text' END || ' ' ||
  CASE WHEN $3 IS NULL THEN 'null' ELSE 'blob' END || ' ' || CASE WHEN $4 IS NULL THEN 'null' ELSE 'real' END || ' ' ||
  CASE WHEN $5 IS NULL THEN 'null' ELSE 'blob' END;
