-- session_generation: the generation of a session.
-- params: session:id
-- columns: generation:int
SELECT generation FROM pawl.workers WHERE session_id = $1;
