-- cancel_exists: whether a cancel intent stands for a run.
-- params: run:id
-- columns: asked:int
SELECT EXISTS (SELECT 1 FROM pawl.cancels WHERE run_id = $1);
