-- claim_renew: puts a new token on a claim whose admission has not happened, so that bytes of it that are still under way are dead. The lease
-- keeps its end.
-- params: trigger:id owner:text token:id claim_version:int new_token:id
-- columns: state_version:int claim_version:int
-- only: postgres
UPDATE pawl.trigger_schedules
SET claim_token = $5, claim_version = claim_version + 1, state_version = state_version + 1, updated_at_ms = pawl.now_ms()
WHERE trigger_id = $1 AND claim_owner = $2 AND claim_token = $3 AND claim_version = $4 AND claim_expires_at_ms > pawl.now_ms() AND armed
RETURNING state_version, claim_version;
