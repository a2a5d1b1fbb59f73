-- explain_hot: where an unfinished run stands, with what decides over it; stand: leased, ready or parked. No row for a run that has ended.
-- params: run:id
-- columns: stand:text attempt:int pool_id:id slots:int order_key:int trigger_born:int since_at_ms:int start_by_at_ms:int? laters:int parked_reason:text? detail:text? wake_at_ms:int? session:id? acquired_at_ms:int? expires_at_ms:int? started_at_ms:int? pid:int?
SELECT 'leased', attempt, pool_id, slots, order_key, trigger_born, since_at_ms, start_by_at_ms, laters, NULL::text, NULL::text, NULL::bigint, session_id,
  acquired_at_ms, expires_at_ms, started_at_ms, pid
FROM pawl.leased WHERE run_id = $1
UNION ALL SELECT 'ready', attempt, pool_id, slots, order_key, trigger_born, since_at_ms, start_by_at_ms, laters, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM pawl.ready WHERE run_id = $1
UNION ALL SELECT 'parked', attempt, pool_id, slots, order_key, trigger_born, since_at_ms, start_by_at_ms, laters, reason, detail, wake_at_ms, NULL, NULL, NULL, NULL, NULL
FROM pawl.parked WHERE run_id = $1;
