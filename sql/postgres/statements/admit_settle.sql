-- admit_settle: moves the cursors of rows that stand as they were claimed and whose leases last, and ends the claims.
-- params: trigger:id state_version:int cursor_ms:int claim_version:int next_ms:int? due_at_ms:int? settled_ms:int admitted_ms:int made_up:int
-- columns: -
-- many: yes
WITH t AS MATERIALIZED (SELECT pawl.now_ms() AS now)
UPDATE pawl.trigger_schedules s
SET next_fire_at_ms = v.next_ms, due_at_ms = v.due_at_ms, armed = (v.next_ms IS NOT NULL),
  last_scheduled_at_ms = greatest(s.last_scheduled_at_ms, v.settled_ms), last_admitted_at_ms = greatest(s.last_admitted_at_ms, v.admitted_ms),
  made_up = v.made_up, first_claimed_at_ms = NULL, quarantine_count = 0, state_version = s.state_version + 1,
  claim_owner = NULL, claim_token = NULL, claim_acquired_at_ms = NULL, claim_expires_at_ms = NULL, updated_at_ms = (SELECT now FROM t)
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[])
  WITH ORDINALITY AS v(trigger_id, state_version, cursor_ms, claim_version, next_ms, due_at_ms, settled_ms, admitted_ms, made_up, ord)
WHERE s.trigger_id = v.trigger_id AND s.state_version = v.state_version AND s.next_fire_at_ms = v.cursor_ms
  AND s.claim_version = v.claim_version AND s.claim_expires_at_ms > (SELECT now FROM t) AND s.armed
RETURNING v.ord;
