-- step_add: adds a part of a numbered transaction.
-- params: step:int part:int bytes:blob
-- columns: -
-- many: yes
WITH given AS MATERIALIZED (
  SELECT v.step, v.part, v.bytes, v.ord FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) WITH ORDINALITY AS v(step, part, bytes, ord)
), added AS (
  INSERT INTO pawl.steps (step, part, bytes) SELECT step, part, bytes FROM given ORDER BY ord ON CONFLICT DO NOTHING RETURNING step, part
)
SELECT given.ord FROM added JOIN given USING (step, part);
