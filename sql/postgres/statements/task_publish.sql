-- task_publish: points a task at a revision of it, and makes it active.
-- params: task:id owner_mark:text? revision:int digest:text max_active:int serial:int now_ms:int
-- columns: -
UPDATE pawl.tasks SET state = 'active', owner_mark = $2, revision = $3, digest = $4, max_active = $5, serial = ($6 <> 0), updated_at_ms = $7 WHERE id = $1;
