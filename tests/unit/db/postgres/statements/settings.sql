-- settings: what the transaction relies on.
-- params: -
-- columns: isolation:text read_only:text durable:text statement:text lock:text idle:text
-- only: postgres
SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only'), current_setting('synchronous_commit'),
  current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout');
