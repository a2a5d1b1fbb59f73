-- api_retry: runs a finished run again through the public function.
-- params: run:id requested_by:text
-- columns: run:id
-- only: postgres
SELECT pawl.retry($1, $2);
