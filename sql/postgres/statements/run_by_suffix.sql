-- run_by_suffix: ids that end in four given bytes, among the newest 100,000 runs and the newest 100,000 unfinished ones of each kind; at most 16.
-- params: suffix:blob
-- columns: run:id
SELECT DISTINCT id FROM (
  SELECT id FROM (SELECT id FROM pawl.runs ORDER BY id DESC LIMIT 100000) a
  UNION ALL SELECT run_id FROM (SELECT run_id FROM pawl.leased ORDER BY run_id DESC LIMIT 100000) b
  UNION ALL SELECT run_id FROM (SELECT run_id FROM pawl.parked ORDER BY run_id DESC LIMIT 100000) c
  UNION ALL SELECT run_id FROM (SELECT run_id FROM pawl.ready ORDER BY run_id DESC LIMIT 100000) d) e
WHERE substr(uuid_send(id), 13) = $1 ORDER BY id DESC LIMIT 16;
