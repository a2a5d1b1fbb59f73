-- finish_waiting: a waiting attempt, wherever it waits.
-- params: run:id
-- columns: attempt:int task:id lease_version:int max_active:int serial:int
SELECT h.attempt, h.task_id, h.lease_version, t.max_active, t.serial
FROM (SELECT run_id, attempt, task_id, lease_version FROM ready WHERE run_id = ?1
  UNION ALL SELECT run_id, attempt, task_id, lease_version FROM parked WHERE run_id = ?1) h
JOIN tasks t ON t.id = h.task_id;
