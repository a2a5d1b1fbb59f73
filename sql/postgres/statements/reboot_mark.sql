-- reboot_mark: raises the high-water mark to the boot that an @reboot trigger has fired for.
-- params: trigger:id state_version:int boot_at_ms:int
-- columns: -
UPDATE pawl.trigger_schedules
SET last_scheduled_at_ms = $3, last_admitted_at_ms = $3, state_version = state_version + 1, updated_at_ms = pawl.now_ms()
WHERE trigger_id = $1 AND state_version = $2 AND last_scheduled_at_ms < $3;
