-- lease_detail: what the end of an attempt must know besides its lease.
-- params: run:id
-- columns: task_revision:int max_active:int serial:int task_archived:int cancel_asked:int
SELECT r.task_revision, t.max_active, t.serial, t.state = 'archived', EXISTS (SELECT 1 FROM cancels c WHERE c.run_id = r.id)
FROM runs r
JOIN tasks t ON t.id = r.task_id
WHERE r.id = ?1;
