-- lease_cancelled: leased runs of a session that somebody asked to cancel.
-- params: session:id
-- columns: run:id
SELECT l.run_id FROM pawl.cancels c JOIN pawl.leased l ON l.run_id = c.run_id WHERE l.session_id = $1;
