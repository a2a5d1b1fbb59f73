-- SPDX-License-Identifier: Apache-2.0
-- Who may do what. One table says it; granting and checking both read it. Kinds of roles: admin publishes and edits, runtime schedules,
-- dispatches and recovers, ingress serves remote workers, viewer reads, enqueue asks for runs from SQL and nothing else.

-- The rights of each kind, object by object, as GRANT spells them: ('runtime', 'TABLE pawl.pool_gates', 'UPDATE (generation)'). S, I, U and
-- D stand for SELECT, INSERT, UPDATE and DELETE, X for EXECUTE, u for USAGE. What the schema does not have (yet) is left out.
CREATE FUNCTION pawl.role_privileges() RETURNS TABLE (kind text, object text, privilege text)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp SET jit = off
BEGIN ATOMIC
  WITH said (what, names, admin, runtime, ingress, viewer, enqueue) AS (VALUES
    ('TABLE', 'projects tasks task_revisions triggers trigger_revisions pools', 'S I U', 'S', 'S', 'S', ''),
    ('TABLE', 'pool_gates task_gates', 'S I U', 'S U(generation)', '', 'S', ''),
    ('TABLE', 'trigger_schedules', 'S I U', 'S U', '', 'S', ''),
    ('TABLE', 'runs attempts events', 'S', 'S I', '', 'S', ''),
    ('TABLE', 'output', 'S', 'S I D', '', 'S', ''),
    ('TABLE', 'output_until', 'S', 'S I U D', '', 'S', ''),
    ('TABLE', 'facts', 'S I', 'S I D', '', 'S', ''),
    ('TABLE', 'ledger', 'S I U(to_at_ms) U(count) U(count_exact) U(recorded_at_ms)', 'S I U D', '', 'S', ''),
    ('TABLE', 'cancels', 'S I', 'S I D', '', 'S', ''),
    ('TABLE', 'ready parked leased', 'S', 'S I U D', '', 'S', ''),
    ('TABLE', 'workers replicas', 'S', 'S I U D', '', 'S', ''),
    ('TABLE', 'duties duty_leases fences', 'S U', 'S I U', '', 'S', ''),
    ('TABLE', 'duty_ticks', 'S', 'S I U D', '', 'S', ''),
    ('TABLE', 'tokens', 'S I U', 'S U(last_used_at_ms)', 'S', '', ''),
    ('TABLE', 'audit', 'S I', 'S I', '', 'S', ''),
    ('TABLE', 'meta', 'S', 'S I U', 'S', 'S', ''),
    ('TABLE', 'migrations', 'S', 'S', 'S', 'S', 'S'),
    ('TABLE', 'v_runs v_run v_attempt v_schedule v_ledger v_event v_partition', 'S', 'S', '', 'S', ''),
    ('SEQUENCE', 'event_numbers', 'u', 'u', '', '', ''),
    ('SEQUENCE', 'worker_generations', '', 'u', '', '', ''),
    ('FUNCTION', 'now_ms role_privileges privilege_differences', 'X', 'X', 'X', 'X', ''),
    ('FUNCTION', 'at partitions id_floor id_at_ms', 'X', 'X', '', 'X', ''),
    ('FUNCTION', 'ensure_partitions drop_partitions', '', 'X', '', '', ''),
    ('FUNCTION', 'enqueue cancel retry', 'X', 'X', 'X', '', 'X'),
    ('FUNCTION', 'cancel_run unpause_runs release_runs', 'X', 'X', '', '', ''),
    ('FUNCTION', 'move_runs', 'X', '', '', '', ''),
    ('FUNCTION', 'end_pause sweep_cancels tidy_waiting', '', 'X', '', '', '')),
  named AS (
    SELECT k.kind, s.what, n.name, p.mark
    FROM said s
    CROSS JOIN LATERAL string_to_table(s.names, ' ') AS n (name)
    CROSS JOIN LATERAL (VALUES ('admin', s.admin), ('runtime', s.runtime), ('ingress', s.ingress), ('viewer', s.viewer),
      ('enqueue', s.enqueue)) AS k (kind, marks)
    CROSS JOIN LATERAL string_to_table(k.marks, ' ') AS p (mark)
    WHERE p.mark <> ''),
  found AS (
    SELECT n.kind, n.mark, n.what || ' ' || format('pawl.%I', c.relname) AS object
    FROM named n JOIN pg_class c ON c.relname = n.name AND c.relnamespace = to_regnamespace('pawl')
    WHERE (n.what = 'TABLE' AND c.relkind IN ('r', 'p', 'v')) OR (n.what = 'SEQUENCE' AND c.relkind = 'S')
    UNION ALL
    SELECT n.kind, n.mark, format('FUNCTION pawl.%I(%s)', f.proname, pg_get_function_identity_arguments(f.oid))
    FROM named n JOIN pg_proc f ON n.what = 'FUNCTION' AND f.proname = n.name AND f.pronamespace = to_regnamespace('pawl'))
  SELECT f.kind, f.object,
    CASE left(f.mark, 1) WHEN 'S' THEN 'SELECT' WHEN 'I' THEN 'INSERT' WHEN 'U' THEN 'UPDATE' WHEN 'D' THEN 'DELETE' WHEN 'X' THEN 'EXECUTE'
      WHEN 'u' THEN 'USAGE' END || coalesce(' ' || substring(f.mark FROM '\(.*\)'), '')
  FROM found f
  UNION ALL
  SELECT k.kind, o.object, o.privilege
  FROM unnest(ARRAY['admin', 'runtime', 'ingress', 'viewer', 'enqueue']) AS k (kind),
    (VALUES (format('DATABASE %I', current_database()), 'CONNECT'), ('SCHEMA pawl', 'USAGE')) AS o (object, privilege);
END;

-- What a role has too little ('missing') or too much ('extra') of for a kind, in effect: what PUBLIC and the roles that it may become give
-- it counts too. Object and privilege are as GRANT spells them. A role that no grant can hold back (a superuser, the owner) is one row.
CREATE FUNCTION pawl.privilege_differences(kind text, role name) RETURNS TABLE (object text, privilege text, difference text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  of_kind CONSTANT text := kind;
  who CONSTANT pg_roles := (SELECT r FROM pg_roles r WHERE r.rolname = role);
  faces oid[];
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pawl.role_privileges() p WHERE p.kind = of_kind) THEN
    RAISE EXCEPTION 'there is no kind of role ''%''; there are admin, runtime, ingress, viewer and enqueue',
      of_kind USING ERRCODE = 'PW404';
  ELSIF who.oid IS NULL THEN
    RAISE EXCEPTION 'there is no role ''%''', role USING ERRCODE = 'PW404';
  END IF;
  faces := ARRAY(SELECT r.oid FROM pg_roles r WHERE pg_has_role(who.oid, r.oid, 'MEMBER'));
  RETURN QUERY
    SELECT format('ROLE %I', r.rolname), a.attribute, 'extra'
    FROM pg_roles r
    CROSS JOIN LATERAL (VALUES ('SUPERUSER', r.rolsuper), ('CREATEROLE', r.rolcreaterole), ('REPLICATION', r.rolreplication),
      ('OWNER', r.oid IN (SELECT n.nspowner FROM pg_namespace n WHERE n.nspname = 'pawl'
        UNION SELECT c.relowner FROM pg_class c WHERE c.relnamespace = to_regnamespace('pawl')
        UNION SELECT f.proowner FROM pg_proc f WHERE f.pronamespace = to_regnamespace('pawl')
        UNION SELECT d.datdba FROM pg_database d WHERE d.datname = current_database()))) AS a (attribute, has)
    WHERE r.oid = ANY (CASE WHEN who.rolsuper THEN ARRAY[who.oid] ELSE faces END) AND a.has;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY
    WITH relations AS (
      SELECT c.oid, c.relkind, format('pawl.%I', c.relname) AS name FROM pg_class c
      WHERE c.relnamespace = to_regnamespace('pawl') AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')),
    grantable (privilege) AS (SELECT unnest(ARRAY['', ' WITH GRANT OPTION'])),
    has AS (
      SELECT 'TABLE ' || t.name AS object, p.privilege || g.privilege AS privilege
      FROM relations t, grantable g,
        unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']
          || CASE WHEN current_setting('server_version_num')::int >= 170000 THEN ARRAY['MAINTAIN'] ELSE '{}' END) AS p (privilege)
      WHERE t.relkind <> 'S' AND EXISTS (SELECT 1 FROM unnest(faces) f WHERE has_table_privilege(f, t.oid, p.privilege || g.privilege))
      UNION ALL
      SELECT 'TABLE ' || t.name, format('%s (%I)%s', p.privilege, a.attname, g.privilege)
      FROM relations t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attacl IS NOT NULL AND NOT a.attisdropped
        CROSS JOIN grantable g CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']) AS p (privilege)
      WHERE t.relkind <> 'S' AND EXISTS (SELECT 1 FROM unnest(faces) f
        WHERE has_column_privilege(f, t.oid, a.attnum, p.privilege || g.privilege)
        AND NOT has_table_privilege(f, t.oid, p.privilege || g.privilege))
      UNION ALL
      SELECT 'SEQUENCE ' || t.name, p.privilege || g.privilege
      FROM relations t, grantable g, unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS p (privilege)
      WHERE t.relkind = 'S' AND EXISTS (SELECT 1 FROM unnest(faces) f WHERE has_sequence_privilege(f, t.oid, p.privilege || g.privilege))
      UNION ALL
      SELECT format('FUNCTION pawl.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)), 'EXECUTE' || g.privilege
      FROM pg_proc p, grantable g
      WHERE p.pronamespace = to_regnamespace('pawl') 
        AND EXISTS (SELECT 1 FROM unnest(faces) f WHERE has_function_privilege(f, p.oid, 'EXECUTE' || g.privilege))
      UNION ALL
      SELECT 'SCHEMA pawl', p.privilege || g.privilege
      FROM grantable g, unnest(ARRAY['USAGE', 'CREATE']) AS p (privilege)
      WHERE EXISTS (SELECT 1 FROM unnest(faces) f WHERE has_schema_privilege(f, 'pawl', p.privilege || g.privilege))
      UNION ALL
      SELECT format('DATABASE %I', current_database()), p.privilege || g.privilege
      FROM grantable g, unnest(ARRAY['CONNECT', 'CREATE', 'TEMPORARY']) AS p (privilege)
      WHERE EXISTS (SELECT 1 FROM unnest(faces) f WHERE has_database_privilege(f, current_database(), p.privilege || g.privilege))),
    may AS (SELECT p.object, p.privilege FROM pawl.role_privileges() p WHERE p.kind = of_kind)
    SELECT m.object, m.privilege, 'missing' FROM may m
    WHERE NOT EXISTS (SELECT 1 FROM has h WHERE h.object = m.object AND h.privilege = m.privilege)
    UNION ALL
    SELECT h.object, h.privilege, 'extra' FROM has h
    WHERE NOT EXISTS (SELECT 1 FROM may m WHERE m.object = h.object AND m.privilege = h.privilege)
    ORDER BY 1, 2;
END $$;

-- Makes a role what its kind says: grants what is missing, takes away what is too much, and returns what it could not change (what PUBLIC
-- or another role gives, or a database that the owner of the schema does not own). Called by the owner of the schema; again whenever one
-- likes. The first grant takes TEMPORARY and CREATE on the database away from PUBLIC where the database is the caller's.
CREATE FUNCTION pawl.grant_role(kind text, role name) RETURNS TABLE (object text, privilege text, difference text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
#variable_conflict use_column
DECLARE
  own_database CONSTANT boolean := pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE');
  d record;
BEGIN
  IF NOT pg_has_role(current_user, (SELECT nspowner FROM pg_namespace WHERE nspname = 'pawl'), 'USAGE') THEN
    RAISE EXCEPTION 'roles are granted by the owner of the schema pawl' USING ERRCODE = 'PW403';
  END IF;
  IF own_database AND EXISTS (SELECT 1 FROM pg_database b, aclexplode(coalesce(b.datacl, acldefault('d', b.datdba))) a
      WHERE b.datname = current_database() AND a.grantee = 0 AND a.privilege_type IN ('TEMPORARY', 'CREATE')) THEN
    EXECUTE format('REVOKE TEMPORARY, CREATE ON DATABASE %I FROM PUBLIC', current_database());
  END IF;
  FOR d IN SELECT * FROM pawl.privilege_differences(kind, role) WHERE object NOT LIKE 'ROLE %' LOOP
    CONTINUE WHEN d.object LIKE 'DATABASE %' AND NOT own_database;
    IF d.difference = 'missing' THEN
      EXECUTE format('GRANT %s ON %s TO %I', d.privilege, d.object, role);
    ELSIF d.privilege LIKE '% WITH GRANT OPTION' THEN
      EXECUTE format('REVOKE GRANT OPTION FOR %s ON %s FROM %I CASCADE', replace(d.privilege, ' WITH GRANT OPTION', ''), d.object, role);
    ELSE
      EXECUTE format('REVOKE %s ON %s FROM %I CASCADE', d.privilege, d.object, role);
    END IF;
  END LOOP;
  RETURN QUERY SELECT * FROM pawl.privilege_differences(kind, role);
END $$;

-- Makes a role of that name, with the caller's own right to do so. It may log in, but for the kind enqueue, which others are made members of.
CREATE FUNCTION pawl.make_role(kind text, role name) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  EXECUTE format('CREATE ROLE %I %s', role, CASE WHEN kind = 'enqueue' THEN 'NOLOGIN' ELSE 'LOGIN' END);
  RETURN true;
END $$;

REVOKE ALL ON FUNCTION pawl.role_privileges(), pawl.privilege_differences(text, name), pawl.grant_role(text, name),
  pawl.make_role(text, name) FROM PUBLIC;
