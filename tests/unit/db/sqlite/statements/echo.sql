-- echo: what went in comes out; the types as SQLite names them.
-- params: n:int? t:text? b:blob? r:real?
-- params: d:id?
-- columns: n:int? t:text? b:blob? r:real? d:id? types:text
SELECT ?1, ?2, ?3, ?4, ?5, typeof(?1) || ' ' || typeof(?2) || ' ' || typeof(?3) || ' ' || typeof(?4) || ' ' || typeof(?5);
