-- role_sql: what makes a role (make <> 0) and gives it the rights of a kind, for a person to run who may.
-- params: kind:text role:text make:int
-- columns: line:text
-- only: postgres
SELECT format('CREATE ROLE %I %s;', $2, CASE WHEN $1 = 'enqueue' THEN 'NOLOGIN' ELSE 'LOGIN' END) WHERE $3 <> 0
UNION ALL SELECT format('SELECT * FROM pawl.grant_role(%L, %L);', $1, $2);
