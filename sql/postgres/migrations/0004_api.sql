-- SPDX-License-Identifier: Apache-2.0
-- What anybody who may can ask for in SQL, in a transaction of his own: pawl.enqueue, pawl.cancel, pawl.retry. They do what the program
-- does on its own store, in the same words, and take effect with the caller's COMMIT. They wait for nobody but a mover of the same run.
-- Until that COMMIT a run that was cancelled while it waited is locked: whoever hands out, parks or releases passes by what is locked.
-- Errors: PW400 what was asked is no such thing, PW404 there is none, PW409 it stands against what is there.

-- A duration as specs have it: '1h30m'. Null stays null.
CREATE FUNCTION pawl.duration_ms(duration text) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  SELECT sum(m.part[1]::bigint * CASE m.part[2] WHEN 'w' THEN 604800000 WHEN 'd' THEN 86400000 WHEN 'h' THEN 3600000 WHEN 'm' THEN 60000
    WHEN 's' THEN 1000 ELSE 1 END)::bigint
  FROM regexp_matches(duration, '(\d+)(ms|w|d|h|m|s)', 'g') AS m (part);
END;

-- A UUIDv7 of an instant in microseconds; the 12 bits behind the version are the fraction of the millisecond.
CREATE FUNCTION pawl.new_id(at_us bigint) RETURNS uuid LANGUAGE sql VOLATILE STRICT SET search_path = pg_catalog, pg_temp
RETURN (lpad(to_hex(at_us / 1000), 12, '0') || '7' || lpad(to_hex(at_us % 1000 * 4096 / 1000), 3, '0')
  || substr(replace(gen_random_uuid()::text, '-', ''), 17))::uuid;

CREATE FUNCTION pawl.append_event(subject uuid, kind text, attempt integer, machine_row integer, data text) RETURNS void
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
  INSERT INTO pawl.events (subject, at_ms, kind, attempt, machine_row, data)
  VALUES (subject, pawl.now_ms(), kind, attempt, machine_row, data);
END;

-- A run comes into being: its row, its hot row, run.created, run.queued or run.scheduled. Pool, slots and latest start (and the priority,
-- where the row has none) are those of the task's revision. False: a run of that id is there already, and nothing was done.
CREATE FUNCTION pawl.create_run(run pawl.runs, start_at_ms bigint) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pawl, pg_temp AS $$
DECLARE
  spec json;
  pool uuid;
  starts CONSTANT bigint := greatest(run.queued_at_ms, start_at_ms);
  later CONSTANT boolean := coalesce(start_at_ms > run.queued_at_ms, false);
  start_by bigint;
  slots integer;
  order_key bigint;
BEGIN
  SELECT v.spec::json INTO STRICT spec FROM pawl.task_revisions v WHERE v.task_id = run.task_id AND v.revision = run.task_revision;
  SELECT p.id INTO pool FROM pawl.pools p WHERE p.project_id = run.project_id AND p.name = spec ->> 'pool' AND p.state <> 'deleted';
  IF pool IS NULL THEN
    RAISE EXCEPTION 'there is no pool ''%''', spec ->> 'pool' USING ERRCODE = 'PW404';
  END IF;
  slots := (spec ->> 'slots')::integer;
  run.priority := coalesce(run.priority, (spec ->> 'priority')::integer);
  start_by := starts + pawl.duration_ms(spec ->> 'start_within');
  order_key := starts - run.priority * 10000::bigint;
  INSERT INTO pawl.runs SELECT run.* ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  IF later THEN
    INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, start_by_at_ms, since_at_ms, reason,
      wake_at_ms)
    VALUES (run.id, 1, run.task_id, pool, slots, order_key, run.trigger_id IS NOT NULL, start_by, run.queued_at_ms, 'start_at',
      start_at_ms);
  ELSE
    INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, start_by_at_ms, since_at_ms)
    VALUES (run.id, 1, run.task_id, pool, slots, order_key, run.trigger_id IS NOT NULL, start_by, run.queued_at_ms);
  END IF;
  PERFORM pawl.append_event(run.id, 'run.created', NULL, NULL, NULL);
  PERFORM pawl.append_event(run.id, CASE WHEN later THEN 'run.scheduled' ELSE 'run.queued' END, 1, 1, NULL);
  RETURN true;
END $$;

-- The active task of that name, or the error that says what there is instead.
CREATE FUNCTION pawl.find_task(project text, task text) RETURNS pawl.tasks
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pawl, pg_temp AS $$
DECLARE
  in_project CONSTANT text := coalesce(project, 'default');
  wanted CONSTANT text := split_part(task, '/', 1);
  p pawl.projects;
  t pawl.tasks;
  elsewhere text;
BEGIN
  SELECT r.* INTO p FROM pawl.projects r WHERE r.name = in_project;
  SELECT r.* INTO t FROM pawl.tasks r WHERE r.project_id = p.id AND r.name = wanted AND r.state = 'active';
  IF t.id IS NOT NULL AND position('/' IN task) > 0 THEN
    RAISE EXCEPTION 'a run is asked of a task: ''%''', wanted USING ERRCODE = 'PW400';
  ELSIF t.id IS NOT NULL THEN
    RETURN t;
  END IF;
  SELECT o.name INTO elsewhere FROM pawl.tasks r JOIN pawl.projects o ON o.id = r.project_id
  WHERE r.name = wanted AND r.state = 'active' AND o.name <> in_project ORDER BY o.name LIMIT 1;
  IF elsewhere IS NOT NULL THEN
    RAISE EXCEPTION 'there is no task ''%'' in this project; project ''%'' has one', wanted, elsewhere USING ERRCODE = 'PW404';
  ELSIF p.id IS NULL AND in_project = 'default' THEN
    RAISE EXCEPTION 'nothing has been applied to this store yet' USING ERRCODE = 'PW404';
  ELSIF p.id IS NULL THEN
    RAISE EXCEPTION 'there is no project ''%''', in_project USING ERRCODE = 'PW404';
  ELSIF NOT EXISTS (SELECT 1 FROM pawl.tasks r WHERE r.project_id = p.id AND r.state = 'active') THEN
    RAISE EXCEPTION 'there is no task ''%'', and no other either', wanted USING ERRCODE = 'PW404';
  END IF;
  RAISE EXCEPTION 'there is no task ''%''', wanted USING ERRCODE = 'PW404';
END $$;

-- Asks for a run of a task and returns its id. start_at: not before then. run: the id that it shall have, a fresh UUIDv7 of the caller's;
-- asking again with the same one is the same request, whatever became of the answer to the first.
CREATE FUNCTION pawl.enqueue(task text, input text DEFAULT NULL, project text DEFAULT NULL, priority integer DEFAULT NULL,
  start_at timestamptz DEFAULT NULL, requested_by text DEFAULT NULL, origin text DEFAULT 'sql', run uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pawl, pg_temp AS $$
DECLARE
  now_us CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000);
  now_ms CONSTANT bigint := now_us / 1000;
  asked CONSTANT uuid := run;
  t pawl.tasks;
  made pawl.runs;
  there pawl.runs;
BEGIN
  IF enqueue.priority NOT BETWEEN -1000 AND 1000 THEN
    RAISE EXCEPTION 'priority %: expected -1000 to 1000', enqueue.priority USING ERRCODE = 'PW400';
  ELSIF start_at NOT BETWEEN 'epoch' AND timestamptz '2900-12-31 23:59:59.999+00' THEN
    RAISE EXCEPTION 'a start before 1970 or after 2900' USING ERRCODE = 'PW400';
  ELSIF enqueue.task IS NULL THEN
    RAISE EXCEPTION 'a run is asked of a task' USING ERRCODE = 'PW400';
  ELSIF enqueue.origin IS NULL OR enqueue.origin NOT IN ('manual', 'api', 'sql') THEN
    RAISE EXCEPTION 'origin ''%'': expected manual, api or sql', enqueue.origin USING ERRCODE = 'PW400';
  ELSIF substr(asked::text, 15, 1) <> '7' OR abs(pawl.id_at_ms(asked) - now_ms) > 86400000
      OR pawl.id_at_ms(asked) < (SELECT m.value::bigint FROM pawl.meta m WHERE m.key = 'horizon_ms') THEN
    RAISE EXCEPTION 'the id of a run is a UUIDv7 of these days: ''%''', asked USING ERRCODE = 'PW400';
  END IF;
  t := pawl.find_task(enqueue.project, enqueue.task);
  made.id := coalesce(asked, pawl.new_id(now_us));
  made.project_id := t.project_id;
  made.task_id := t.id;
  made.task_revision := t.revision;
  made.origin := enqueue.origin;
  made.queued_at_ms := now_ms;
  made.priority := enqueue.priority;
  made.requested_by := coalesce(enqueue.requested_by, session_user);
  made.input := enqueue.input;
  IF pawl.create_run(made, floor(extract(epoch FROM start_at) * 1000)::bigint) THEN
    PERFORM pg_notify('pawl', '');
    RETURN made.id;
  END IF;
  SELECT r.* INTO there FROM pawl.runs r WHERE r.id = made.id;
  IF (there.task_id, there.input, there.origin) IS DISTINCT FROM (made.task_id, made.input, made.origin) THEN
    RAISE EXCEPTION 'run % was asked for by another request', right(made.id::text, 8) USING ERRCODE = 'PW409';
  END IF;
  RETURN made.id;
END $$;

-- Ends a run that waits, and its intent goes with it; false: it waits nowhere. Whoever moves it just now is waited for.
CREATE FUNCTION pawl.end_waiting(run uuid, why text) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hot record;
BEGIN
  DELETE FROM pawl.ready h WHERE h.run_id = run RETURNING h.attempt, h.lease_version INTO hot;
  IF NOT FOUND THEN
    DELETE FROM pawl.parked h WHERE h.run_id = run RETURNING h.attempt, h.lease_version INTO hot;
  END IF;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO pawl.attempts (run_id, attempt, state, last, reason, lease_version, finished_at_ms)
  VALUES (run, hot.attempt, 'cancelled', true, why, hot.lease_version, pawl.now_ms());
  PERFORM pawl.append_event(run, 'attempt.cancelled', hot.attempt, 5, NULL);
  PERFORM pawl.append_event(run, 'run.cancelled', NULL, 5, NULL);
  DELETE FROM pawl.cancels c WHERE c.run_id = run;
  RETURN true;
END $$;

-- Cancels a run: 'cancelled' when nobody had it, 'requested' when a worker has it and will stop it, 'ended' when there was nothing to
-- cancel any more. The intent is written first; then the run is looked for in ready, parked and leased, in a statement each, until it is found in
-- one of them or has ended: it may be moved meanwhile. Only a row that waits is locked, never a lease.
CREATE FUNCTION pawl.cancel_run(run uuid, why text, actor text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO pawl.cancels (run_id, requested_at_ms, requested_by, reason) VALUES (run, pawl.now_ms(), actor, why)
    ON CONFLICT (run_id) DO NOTHING;
  PERFORM pawl.append_event(run, 'run.cancel_requested', NULL, NULL, format('{"actor":%s,"reason":%s}', to_json(actor), to_json(why)));
  FOR look IN 1 .. 100 LOOP
    IF pawl.end_waiting(run, why) THEN
      RETURN 'cancelled';
    ELSIF EXISTS (SELECT 1 FROM pawl.leased h WHERE h.run_id = run) THEN
      RETURN 'requested';
    END IF;
    EXIT WHEN EXISTS (SELECT 1 FROM pawl.attempts a WHERE a.run_id = run AND a.last);
  END LOOP;
  DELETE FROM pawl.cancels c WHERE c.run_id = run;
  RETURN 'ended';
END $$;

-- What pawl.cancel_run() does, for people: a run that there is not, or that has ended, is an error.
CREATE FUNCTION pawl.cancel(run uuid, reason text DEFAULT NULL, requested_by text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pawl, pg_temp AS $$
DECLARE
  actor CONSTANT text := coalesce(cancel.requested_by, session_user);
  outcome text;
  state text;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pawl.runs r WHERE r.id = run) THEN
    RAISE EXCEPTION 'there is no run %', run USING ERRCODE = 'PW404';
  END IF;
  outcome := pawl.cancel_run(run, coalesce(cancel.reason, 'cancelled by ' || actor), actor);
  IF outcome = 'ended' THEN
    SELECT CASE a.state WHEN 'lost' THEN 'failed' ELSE a.state END INTO state FROM pawl.attempts a WHERE a.run_id = run AND a.last;
    RAISE EXCEPTION 'run % has ended already: %', right(run::text, 8), coalesce(state, 'it stands in no hot table')
      USING ERRCODE = 'PW409';
  END IF;
  PERFORM pg_notify('pawl', '');
  RETURN outcome;
END $$;

-- Runs a finished run again, as a run of its own with the task's newest revision, the same input, trigger and nominal time; returns its id.
CREATE FUNCTION pawl.retry(run uuid, requested_by text DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pawl, pg_temp AS $$
DECLARE
  now_us CONSTANT bigint := floor(extract(epoch FROM clock_timestamp()) * 1000000);
  old CONSTANT uuid := run;
  was pawl.runs;
  made pawl.runs;
  t pawl.tasks;
BEGIN
  SELECT r.* INTO was FROM pawl.runs r WHERE r.id = old;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no run %', old USING ERRCODE = 'PW404';
  END IF;
  SELECT k.* INTO STRICT t FROM pawl.tasks k WHERE k.id = was.task_id;
  IF t.state <> 'active' THEN
    RAISE EXCEPTION 'task ''%'' was deleted; apply it again before its runs are retried', t.name USING ERRCODE = 'PW409';
  ELSIF EXISTS (SELECT 1 FROM pawl.ready h WHERE h.run_id = old UNION ALL SELECT 1 FROM pawl.parked h WHERE h.run_id = old
      UNION ALL SELECT 1 FROM pawl.leased h WHERE h.run_id = old) THEN
    RAISE EXCEPTION 'run % has not ended yet', right(old::text, 8) USING ERRCODE = 'PW409';
  END IF;
  made := was;
  made.id := pawl.new_id(now_us);
  made.task_revision := t.revision;
  made.origin := 'retry';
  made.queued_at_ms := now_us / 1000;
  made.priority := NULL;
  made.retry_of := old;
  made.requested_by := coalesce(retry.requested_by, session_user);
  PERFORM pawl.create_run(made, NULL);
  PERFORM pg_notify('pawl', '');
  RETURN made.id;
END $$;

REVOKE ALL ON FUNCTION pawl.duration_ms(text), pawl.new_id(bigint), pawl.append_event(uuid, text, integer, integer, text),
  pawl.create_run(pawl.runs, bigint), pawl.find_task(text, text), pawl.end_waiting(uuid, text), pawl.cancel_run(uuid, text, text),
  pawl.enqueue(text, text, text, integer, timestamptz, text, text, uuid),
  pawl.cancel(uuid, text, text), pawl.retry(uuid, text) FROM PUBLIC;

DO $$ BEGIN
  IF pg_catalog.to_regrole('pawl_enqueue') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA pawl TO pawl_enqueue;
    GRANT EXECUTE ON FUNCTION pawl.enqueue(text, text, text, integer, timestamptz, text, text, uuid), pawl.cancel(uuid, text, text),
      pawl.retry(uuid, text) TO pawl_enqueue;
    GRANT SELECT ON pawl.migrations TO pawl_enqueue;
  END IF;
END $$;
