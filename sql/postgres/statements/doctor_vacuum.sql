-- doctor_vacuum: whether the server vacuums by itself, the hot tables for which that is switched off, and the one with the most dead rows.
-- params: -
-- columns: works:int off:text? worst:text? dead:int live:int
-- only: postgres
WITH hot AS (
  SELECT c.oid, c.relname::text AS name, c.reloptions FROM pg_class c
  WHERE c.relnamespace = to_regnamespace('pawl') AND c.relname IN ('ready', 'parked', 'leased', 'cancels', 'trigger_schedules', 'workers', 'replicas')),
worst AS (
  SELECT h.name, pg_stat_get_dead_tuples(h.oid) AS dead, pg_stat_get_live_tuples(h.oid) AS live FROM hot h ORDER BY 2 DESC, 1 LIMIT 1)
SELECT current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean,
  (SELECT string_agg(name, ', ' ORDER BY name) FROM hot
    WHERE EXISTS (SELECT 1 FROM pg_options_to_table(reloptions) o WHERE o.option_name = 'autovacuum_enabled' AND NOT o.option_value::boolean)),
  (SELECT name FROM worst), (SELECT coalesce(max(dead), 0) FROM worst), (SELECT coalesce(max(live), 0) FROM worst);
