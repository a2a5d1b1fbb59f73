-- SPDX-License-Identifier: Apache-2.0
-- Acts that reach into tables which the role that does them may only read: people's (admin) into what waits, a replica's (runtime) into the
-- row of a task. Each checks what it is asked for, does one thing, and runs as the owner. Called inside the program's own transactions.

-- Runs that a pause of their task had parked are ready again. Nothing while the task is paused. What somebody else holds is left to him,
-- and to tidy_waiting().
CREATE FUNCTION pawl.unpause_runs(task uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moved integer;
BEGIN
  WITH c AS MATERIALIZED (
    SELECT k.run_id FROM pawl.parked k JOIN pawl.tasks t ON t.id = k.task_id AND t.paused_at_ms IS NULL
    WHERE k.task_id = task AND k.reason = 'paused' ORDER BY k.run_id FOR UPDATE OF k SKIP LOCKED),
  d AS (DELETE FROM pawl.parked k USING c WHERE k.run_id = c.run_id AND k.reason = 'paused' RETURNING k.*)
  INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms,
    since_at_ms)
  SELECT d.run_id, d.attempt, d.task_id, d.pool_id, d.slots, d.order_key, d.trigger_born, d.lease_version, d.laters, d.start_by_at_ms,
    pawl.now_ms()
  FROM d;
  GET DIAGNOSTICS moved = ROW_COUNT;
  RETURN moved;
END $$;

-- Something that a limit of the task counts went away, or its limits changed: of what its limits had parked, as much is ready again as
-- there is room for, at most 256. The task's gate is taken first, and what decides is read in later statements.
CREATE FUNCTION pawl.release_runs(task uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  room bigint;
  born_room bigint;
  moved integer := 0;
  r record;
BEGIN
  PERFORM FROM pawl.task_gates g WHERE g.task_id = task FOR NO KEY UPDATE OF g;
  SELECT CASE WHEN t.max_active > 0 THEN t.max_active - u.active ELSE 256 END, CASE WHEN t.serial THEN 1 - u.born ELSE 256 END
  INTO room, born_room
  FROM pawl.tasks t,
    (SELECT count(*) AS active, count(*) FILTER (WHERE l.trigger_born) AS born FROM pawl.leased l WHERE l.task_id = task) u
  WHERE t.id = task;
  FOR r IN SELECT k.run_id, k.trigger_born FROM pawl.parked k WHERE k.task_id = task AND k.reason IN ('limit', 'overlap')
      ORDER BY k.order_key, k.run_id LIMIT 256 FOR UPDATE OF k SKIP LOCKED LOOP
    EXIT WHEN room <= 0;
    CONTINUE WHEN r.trigger_born AND born_room <= 0;
    WITH d AS (DELETE FROM pawl.parked k WHERE k.run_id = r.run_id AND k.reason IN ('limit', 'overlap') RETURNING k.*)
    INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms,
      since_at_ms)
    SELECT d.run_id, d.attempt, d.task_id, d.pool_id, d.slots, d.order_key, d.trigger_born, d.lease_version, d.laters, d.start_by_at_ms,
      pawl.now_ms()
    FROM d;
    moved := moved + 1;
    room := room - 1;
    IF r.trigger_born THEN born_room := born_room - 1; END IF;
  END LOOP;
  RETURN moved;
END $$;

-- What waits of a task goes along to another pool of its project; runs of a revision that a trigger pins stay where that puts them.
CREATE FUNCTION pawl.move_runs(task uuid, pool uuid) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  ready integer;
  parked integer;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pawl.tasks t JOIN pawl.pools p ON p.project_id = t.project_id
      WHERE t.id = task AND p.id = pool AND p.state <> 'deleted') THEN
    RAISE EXCEPTION 'pool % is none of the project of task %', pool, task USING ERRCODE = 'PW404';
  END IF;
  WITH pinned AS MATERIALIZED (
    SELECT s.task_revision FROM pawl.trigger_schedules s JOIN pawl.triggers g ON g.id = s.trigger_id AND g.state = 'active'
    WHERE s.task_id = task),
  c AS MATERIALIZED (
    SELECT h.run_id FROM pawl.ready h
    WHERE h.task_id = task AND h.pool_id <> pool
      AND NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = h.run_id AND r.task_revision IN (SELECT p.task_revision FROM pinned p))
    ORDER BY h.run_id FOR NO KEY UPDATE OF h)
  UPDATE pawl.ready h SET pool_id = pool FROM c WHERE h.run_id = c.run_id AND h.task_id = task AND h.pool_id <> pool;
  GET DIAGNOSTICS ready = ROW_COUNT;
  WITH pinned AS MATERIALIZED (
    SELECT s.task_revision FROM pawl.trigger_schedules s JOIN pawl.triggers g ON g.id = s.trigger_id AND g.state = 'active'
    WHERE s.task_id = task),
  c AS MATERIALIZED (
    SELECT h.run_id FROM pawl.parked h
    WHERE h.task_id = task AND h.pool_id <> pool
      AND NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = h.run_id AND r.task_revision IN (SELECT p.task_revision FROM pinned p))
    ORDER BY h.run_id FOR NO KEY UPDATE OF h)
  UPDATE pawl.parked h SET pool_id = pool FROM c WHERE h.run_id = c.run_id AND h.task_id = task AND h.pool_id <> pool;
  GET DIAGNOSTICS parked = ROW_COUNT;
  RETURN ready + parked;
END $$;

-- Ends the pause of a task whose end has come; false: it stands no more, or lasts longer by now. FOR UPDATE waits for a publication under
-- way through its foreign keys; what decides is read after that wait.
CREATE FUNCTION pawl.end_pause(task uuid) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM FROM pawl.tasks t WHERE t.id = task AND t.pause_until_at_ms <= pawl.now_ms() FOR UPDATE OF t;
  UPDATE pawl.tasks t
  SET paused_at_ms = NULL, pause_until_at_ms = NULL, pause_reason = NULL, paused_by = NULL, updated_at_ms = pawl.now_ms()
  WHERE t.id = task AND t.pause_until_at_ms <= pawl.now_ms();
  RETURN FOUND;
END $$;

-- The net under cancels: intents of runs that have ended go, and runs that still wait although their cancel was asked for end. Both can be
-- left over when a cancel and a move or an end were written at the same time. At most `most` intents, the oldest first; what somebody holds
-- is left for the next time. Returns how many intents it settled.
CREATE FUNCTION pawl.sweep_cancels(most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  settled integer := 0;
  c record;
BEGIN
  FOR c IN SELECT w.run_id, w.reason FROM pawl.cancels w
      WHERE NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.run_id = w.run_id)
      ORDER BY w.requested_at_ms, w.run_id LIMIT most FOR UPDATE OF w SKIP LOCKED LOOP
    IF EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = c.run_id AND a.last)
        OR NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = c.run_id) THEN
      DELETE FROM pawl.cancels w WHERE w.run_id = c.run_id;
      settled := settled + 1;
      CONTINUE;
    END IF;
    PERFORM FROM pawl.ready h WHERE h.run_id = c.run_id FOR UPDATE OF h SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM FROM pawl.parked h WHERE h.run_id = c.run_id FOR UPDATE OF h SKIP LOCKED;
    END IF;
    IF FOUND AND pawl.end_waiting(c.run_id, c.reason) THEN settled := settled + 1; END IF;
  END LOOP;
  RETURN settled;
END $$;

-- The net under what waits, a bite of at most `most` rows each: runs in a pool that was deleted while they were asked for are set aside
-- until there is a pool of that name again; what was parked by a pause or a limit that ended at the same moment is ready again. A run that
-- this finds would have waited for ever, so it is counted and shown. Returns how many rows it moved.
CREATE FUNCTION pawl.tidy_waiting(most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moved integer;
  t record;
BEGIN
  WITH c AS MATERIALIZED (
    SELECT h.run_id FROM pawl.pools p JOIN pawl.ready h ON h.pool_id = p.id
    WHERE p.state = 'deleted' ORDER BY h.run_id LIMIT most FOR UPDATE OF h SKIP LOCKED),
  d AS (DELETE FROM pawl.ready h USING c WHERE h.run_id = c.run_id RETURNING h.*)
  INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, lease_version, laters, start_by_at_ms,
    since_at_ms, reason, detail)
  SELECT d.run_id, d.attempt, d.task_id, d.pool_id, d.slots, d.order_key, d.trigger_born, d.lease_version, d.laters, d.start_by_at_ms,
    d.since_at_ms, 'unsatisfiable', 'its pool was deleted' FROM d;
  GET DIAGNOSTICS moved = ROW_COUNT;
  FOR t IN SELECT DISTINCT k.task_id FROM pawl.parked k JOIN pawl.tasks a ON a.id = k.task_id AND a.paused_at_ms IS NULL
      WHERE k.reason = 'paused' ORDER BY k.task_id LIMIT most LOOP
    moved := moved + pawl.unpause_runs(t.task_id);
  END LOOP;
  FOR t IN
    SELECT a.id FROM pawl.tasks a
    WHERE EXISTS (SELECT 1 FROM pawl.parked k WHERE k.task_id = a.id AND k.reason IN ('limit', 'overlap'))
      AND (a.max_active = 0 OR (SELECT count(*) FROM pawl.leased l WHERE l.task_id = a.id)
        + (SELECT count(*) FROM pawl.ready r WHERE r.task_id = a.id) < a.max_active)
      AND NOT EXISTS (SELECT 1 FROM pawl.leased l WHERE l.task_id = a.id AND a.serial AND l.trigger_born)
      AND NOT EXISTS (SELECT 1 FROM pawl.ready r WHERE r.task_id = a.id AND a.serial)
    ORDER BY a.id LIMIT most LOOP
    PERFORM FROM pawl.task_gates g WHERE g.task_id = t.id FOR NO KEY UPDATE OF g SKIP LOCKED;
    CONTINUE WHEN NOT FOUND; -- whoever holds it may wait for a row that is held here
    moved := moved + pawl.release_runs(t.id);
  END LOOP;
  RETURN moved;
END $$;

REVOKE ALL ON FUNCTION pawl.unpause_runs(uuid), pawl.release_runs(uuid), pawl.move_runs(uuid, uuid), pawl.end_pause(uuid),
  pawl.sweep_cancels(integer), pawl.tidy_waiting(integer) FROM PUBLIC;
