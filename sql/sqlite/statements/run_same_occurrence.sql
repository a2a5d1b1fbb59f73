-- run_same_occurrence: whether a run that exists is that occurrence.
-- params: id:id trigger:id nominal_at_ms:int
-- columns: same:int
SELECT trigger_id IS ?2 AND nominal_at_ms IS ?3 FROM runs WHERE id = ?1;
