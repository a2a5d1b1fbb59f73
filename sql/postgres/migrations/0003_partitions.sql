-- SPDX-License-Identifier: Apache-2.0
-- History by ranges of run ids. A range stands in runs, attempts, events and output alike: runs_20261201t00 begins at that hour (UTC). What
-- is older than the first range lies in the default partitions, whose CHECK says so; therefore ATTACH looks through none of their rows, and
-- an id that no range holds is refused instead of hiding in the default. Only the two functions below make and drop ranges.

-- The least id of an instant: its first 48 bits.
CREATE FUNCTION pawl.id_floor(at_ms bigint) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
RETURN (lpad(to_hex(at_ms), 12, '0') || repeat('0', 20))::uuid;

CREATE FUNCTION pawl.id_at_ms(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
RETURN ('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint;

-- The partitions as the catalogs have them. Null bounds: the default, which ends where the first range begins.
CREATE FUNCTION pawl.partitions() RETURNS TABLE (parent name, name name, from_ms bigint, to_ms bigint, oid oid)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT p.relname, c.relname, pawl.id_at_ms(b.bounds[1]::uuid), pawl.id_at_ms(b.bounds[2]::uuid), c.oid
  FROM pg_inherits i
  JOIN pg_class p ON p.oid = i.inhparent AND p.relnamespace = to_regnamespace('pawl')
  JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition
  CROSS JOIN LATERAL (SELECT regexp_match(pg_get_expr(c.relpartbound, c.oid), $x$FROM \('(.*)'\) TO \('(.*)'\)$x$) AS bounds) b
  WHERE p.relkind = 'p' AND p.relname IN ('runs', 'attempts', 'events', 'output')
  ORDER BY p.relname, 3 NULLS FIRST;
END;

CREATE VIEW pawl.v_partition AS
SELECT parent, name, pawl.at(from_ms) AS starts, pawl.at(to_ms) AS ends, pg_total_relation_size(oid) AS bytes FROM pawl.partitions();

-- Makes ranges up to ahead_ms from now, each width_ms wide, and returns where the last one ends: whoever admits needs that to lie ahead of
-- him. A gap that an absence left is one range. From the 48th on (nothing is dropped any more?) ranges are 31 days wide; with the default
-- there are at most 60 partitions a table. A lock that is not to be had within 100 ms is asked for again, 20 times, without an error that
-- anybody sees.
CREATE FUNCTION pawl.ensure_partitions(ahead_ms bigint DEFAULT 259200000, width_ms bigint DEFAULT 86400000) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  hour CONSTANT bigint := 3600000;
  day CONSTANT bigint := 86400000;
  history CONSTANT text[] := ARRAY['runs', 'attempts', 'events', 'output'];
  now CONSTANT bigint := pawl.now_ms();
  tries integer := 0;
  n bigint;
  top bigint;
  width bigint;
  start bigint;
  bound bigint;
  parent text;
  child text;
BEGIN
  IF ahead_ms IS NULL OR ahead_ms NOT BETWEEN 0 AND 366 * day
      OR width_ms IS NULL OR width_ms NOT BETWEEN hour AND 31 * day OR width_ms % hour <> 0 THEN
    RAISE EXCEPTION 'ranges are whole hours wide, at most 31 days, and made at most 366 days ahead' USING ERRCODE = 'PW400';
  END IF;
  LOOP
    BEGIN -- the catalogs too are read in here: what makes or drops a range locks what they tell of
      SELECT count(p.from_ms), max(p.to_ms) INTO n, top FROM pawl.partitions() p WHERE p.parent = 'runs';
      start := coalesce(top, (SELECT m.value::bigint FROM pawl.meta m WHERE m.key = 'first_range_ms'));
      IF start >= now + ahead_ms OR n >= 59 THEN RETURN start; END IF;
      width := CASE WHEN n >= 48 THEN 31 * day ELSE width_ms END;
      bound := greatest(start + width, now - now % hour);
      child := to_char(timestamp 'epoch' + start * interval '1 millisecond', 'YYYYMMDD"t"HH24');
      PERFORM pg_advisory_xact_lock(1885435756, 1); -- two replicas that begin at once; 'pawl'
      CONTINUE WHEN (SELECT max(p.to_ms) FROM pawl.partitions() p WHERE p.parent = 'runs') IS DISTINCT FROM top;
      FOREACH parent IN ARRAY history LOOP
        EXECUTE format('CREATE TABLE pawl.%I (LIKE pawl.%I INCLUDING ALL)', parent || '_' || child, parent);
        EXECUTE format('ALTER TABLE pawl.%I ATTACH PARTITION pawl.%I FOR VALUES FROM (%L) TO (%L)', parent, parent || '_' || child,
          pawl.id_floor(start), pawl.id_floor(bound));
      END LOOP;
      tries := 0;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
      tries := tries + 1;
      IF tries >= 20 THEN RETURN coalesce(start, 0); END IF;
      PERFORM pg_sleep(0.05 * random());
    END;
  END LOOP;
END $$;

-- Drops what ended before an instant: 1,000 finished runs of the default partitions, and whole ranges, oldest first, up to the first one
-- that must be kept. Returns a row for each range that it dropped or stopped at, with the reason. Raises the horizon (meta, horizon_ms):
-- below it pawl no longer knows what ran. An instant of less than an hour ago is refused. Who waits for these locks makes others wait
-- behind him, so they are asked for five times only, and not in a row.
CREATE FUNCTION pawl.drop_partitions(before_ms bigint) RETURNS TABLE (range text, dropped boolean, reason text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
  history CONSTANT text[] := ARRAY['output', 'events', 'attempts', 'runs'];
  horizon bigint := 0;
  tries integer;
  waiting bigint;
  ids uuid[];
  r record;
  parent text;
BEGIN
  IF before_ms IS NULL OR before_ms < 0 OR before_ms > pawl.now_ms() - 3600000 THEN
    RAISE EXCEPTION 'history is kept for an hour at least' USING ERRCODE = 'PW400';
  ELSIF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a snapshot from before the lock does not show who has come meanwhile: use READ COMMITTED' USING ERRCODE = 'PW400';
  END IF;
  IF NOT pg_try_advisory_xact_lock(1885435756, 1) THEN
    RETURN QUERY SELECT NULL::text, false, 'another replica is at it';
    RETURN;
  END IF;

  ids := ARRAY(
    SELECT d.id FROM pawl.runs_default d
    WHERE d.id < pawl.id_floor(before_ms)
      AND EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = d.id AND a.last AND a.finished_at_ms < before_ms)
      AND NOT EXISTS (SELECT 1 FROM pawl.ready h WHERE h.run_id = d.id)
      AND NOT EXISTS (SELECT 1 FROM pawl.parked h WHERE h.run_id = d.id)
      AND NOT EXISTS (SELECT 1 FROM pawl.leased h WHERE h.run_id = d.id)
    ORDER BY d.id LIMIT 1000);
  IF cardinality(ids) > 0 THEN
    DELETE FROM pawl.output_default d WHERE d.run_id = ANY (ids);
    DELETE FROM pawl.events_default d WHERE d.subject = ANY (ids);
    DELETE FROM pawl.attempts_default d WHERE d.run_id = ANY (ids);
    DELETE FROM pawl.runs_default d WHERE d.id = ANY (ids);
    horizon := pawl.id_at_ms(ids[cardinality(ids)]) + 1;
    range := 'default';
    dropped := true;
    reason := cardinality(ids) || ' finished runs';
    RETURN NEXT;
  END IF;

  FOR r IN SELECT p.from_ms, p.to_ms, substr(p.name, length('runs_') + 1) AS suffix
      FROM pawl.partitions() p WHERE p.parent = 'runs' AND p.from_ms IS NOT NULL AND p.to_ms <= before_ms ORDER BY p.from_ms LOOP
    range := r.suffix;
    dropped := false;
    reason := 'its tables are in use';
    FOR tries IN 1 .. 5 LOOP
      BEGIN
        LOCK TABLE ONLY pawl.runs, ONLY pawl.attempts, ONLY pawl.events, ONLY pawl.output IN ACCESS EXCLUSIVE MODE;
        SELECT count(*) INTO waiting FROM (
          SELECT h.run_id FROM pawl.ready h UNION ALL SELECT h.run_id FROM pawl.parked h UNION ALL SELECT h.run_id FROM pawl.leased h) u
        WHERE u.run_id >= pawl.id_floor(r.from_ms) AND u.run_id < pawl.id_floor(r.to_ms);
        IF waiting > 0 THEN
          reason := waiting || ' runs in it are unfinished';
          EXIT;
        END IF;
        FOREACH parent IN ARRAY history LOOP
          EXECUTE format('DROP TABLE pawl.%I', parent || '_' || r.suffix);
        END LOOP;
        dropped := true;
        reason := NULL;
        EXIT;
      EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        PERFORM pg_sleep(0.3 + 0.2 * random());
      END;
    END LOOP;
    RETURN NEXT;
    EXIT WHEN NOT dropped;
    horizon := r.to_ms;
  END LOOP;

  IF horizon > 0 THEN
    INSERT INTO pawl.meta (key, value) VALUES ('horizon_ms', horizon::text)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value WHERE pawl.meta.value::bigint < excluded.value::bigint;
  END IF;
END $$;

REVOKE ALL ON FUNCTION pawl.id_floor(bigint), pawl.id_at_ms(uuid), pawl.partitions(), pawl.ensure_partitions(bigint, bigint),
  pawl.drop_partitions(bigint) FROM PUBLIC;

-- The first range begins with the hour of the installation. What is planned for before, and made up for later, goes to the default.
DO $$
DECLARE
  first CONSTANT bigint := pawl.now_ms() - pawl.now_ms() % 3600000;
  parent text;
BEGIN
  INSERT INTO pawl.meta (key, value) VALUES ('first_range_ms', first::text);
  FOREACH parent IN ARRAY ARRAY['runs', 'attempts', 'events', 'output'] LOOP
    EXECUTE format('ALTER TABLE pawl.%I ADD CONSTRAINT %I CHECK (%I < %L)', parent || '_default', parent || '_default_below',
      CASE parent WHEN 'runs' THEN 'id' WHEN 'events' THEN 'subject' ELSE 'run_id' END, pawl.id_floor(first));
  END LOOP;
  PERFORM pawl.ensure_partitions();
END $$;
