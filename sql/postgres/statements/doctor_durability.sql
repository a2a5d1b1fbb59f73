-- doctor_durability: "wal", or what is switched off; and synchronous_commit: 0 off, 1 local, 2 remote_write or on, 3 remote_apply.
-- params: -
-- columns: journal:text level:int
SELECT CASE WHEN current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean THEN 'wal'
    ELSE concat('fsync ', current_setting('fsync'), ', full_page_writes ', current_setting('full_page_writes')) END,
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 0 WHEN 'local' THEN 1 WHEN 'remote_apply' THEN 3 ELSE 2 END;
