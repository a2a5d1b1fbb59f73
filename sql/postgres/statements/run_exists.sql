-- run_exists: 1 when there is a run of that id.
-- params: run:id
-- columns: found:int
SELECT count(*) FROM pawl.runs WHERE id = $1;
