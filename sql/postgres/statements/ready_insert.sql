-- ready_insert: adds waiting attempts.
-- params: run:id attempt:int task:id pool:id slots:int order_key:int trigger_born:int lease_version:int laters:int start_by_at_ms:int? since_at_ms:int
-- columns: -
-- many: yes
WITH i AS (
  INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms)
  SELECT run_id, attempt, task_id, pool_id, slots, order_key, trigger_born <> 0, lease_version, laters, start_by_at_ms, since_at_ms
  FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
    AS v(run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms, since_at_ms))
SELECT 1 WHERE false;
