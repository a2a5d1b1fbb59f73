-- run_cancel: cancels a run: its intent is written, and it ends if it waits. Says where it was found.
-- params: run:id reason:text actor:text
-- columns: outcome:text
-- only: postgres
SELECT pawl.cancel_run($1, $2, $3);
