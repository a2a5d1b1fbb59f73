-- api_cancel: cancels a run through the public function: 'cancelled', or 'requested' where a worker has it.
-- params: run:id reason:text? requested_by:text
-- columns: outcome:text
-- only: postgres
SELECT pawl.cancel($1, $2, $3);
