-- run_same_occurrence: whether a run that exists is that occurrence.
-- params: id:id trigger:id nominal_at_ms:int
-- columns: same:int
SELECT trigger_id IS NOT DISTINCT FROM $2 AND nominal_at_ms IS NOT DISTINCT FROM $3 FROM pawl.runs WHERE id = $1;
