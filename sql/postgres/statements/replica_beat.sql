-- replica_beat: a replica lives, and this is its state; rows of replicas that ended or fell silent a day ago go.
-- params: id:id state:text
-- columns: -
-- only: postgres
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now),
old AS (
  DELETE FROM pawl.replicas r WHERE r.id <> $1 AND r.heartbeat_at_ms < (SELECT now FROM t) - 86400000)
UPDATE pawl.replicas SET state = $2, heartbeat_at_ms = greatest(heartbeat_at_ms, (SELECT now FROM t)),
  ended_at_ms = CASE WHEN $2 = 'ended' THEN (SELECT now FROM t) END
WHERE id = $1;
