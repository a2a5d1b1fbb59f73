-- doctor_server: how safe a commit is on this server. sees: whether this role may see what others do; standbys: how many are connected;
-- synchronous: how many of them a commit waits for.
-- params: -
-- columns: fsync:int full_page_writes:int checksums:int commit_level:text names:text standbys:int synchronous:int sees:int
-- only: postgres
SELECT current_setting('fsync')::boolean, current_setting('full_page_writes')::boolean, current_setting('data_checksums')::boolean,
  current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
  (SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
  pg_has_role(current_user, 'pg_read_all_stats', 'USAGE');
