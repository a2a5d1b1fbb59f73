-- api_enqueue: asks for a run through the public function, which any role may call that was granted it.
-- params: task:text input:text? project:text? priority:int? start_at_ms:int? requested_by:text origin:text run:id
-- columns: run:id
-- only: postgres
SELECT pawl.enqueue($1, $2, $3, $4::integer, to_timestamp($5 / 1000.0), $6, $7, $8);
