-- lease_detail: what the end of an attempt must know besides its lease.
-- params: run:id
-- columns: task_revision:int max_active:int serial:int task_archived:int cancel_reason:text? cancelled_by:text?
SELECT r.task_revision, t.max_active, t.serial, t.state = 'archived', c.reason, c.requested_by
FROM pawl.runs r
JOIN pawl.tasks t ON t.id = r.task_id
LEFT JOIN pawl.cancels c ON c.run_id = r.id
WHERE r.id = $1;
