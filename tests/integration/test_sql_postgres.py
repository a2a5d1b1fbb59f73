# SPDX-License-Identifier: Apache-2.0
"""The schema and the statements of the PostgreSQL dialect, against a real server: the scripts run, every statement can be prepared with the
types it declares and answers with the columns it declares, and PUBLIC has nothing."""
import psycopg.pq

from sqltools import statements

OIDS = {"int": 20, "text": 25, "id": 2950, "blob": 17, "real": 701}
ARRAYS = {"int": 1016, "text": 1009, "id": 2951, "blob": 1001, "real": 1022}
READ_AS = {"int": {20, 21, 23, 16}, "text": {25}, "id": {2950}, "blob": {17}, "real": {701}}


def test_every_statement_is_prepared_with_its_declared_types(db):
    wrong, seen = [], 0
    for name, statement in statements("postgres").items():
        many = statement.many
        types = [(ARRAYS if many else OIDS)[kind] for _, kind, _ in statement.params]
        answer = db.pgconn.prepare(name.encode(), statement.text.encode(), types)
        if answer.status != psycopg.pq.ExecStatus.COMMAND_OK:
            wrong.append(f"{name}: {answer.error_message.decode()}")
            continue
        shape = db.pgconn.describe_prepared(name.encode())
        got = [shape.ftype(i) for i in range(shape.nfields)]
        declared = [READ_AS["int"]] * many + [READ_AS[kind] for _, kind, _ in statement.columns]
        if len(got) != len(declared) or any(oid not in may for oid, may in zip(got, declared)):
            wrong.append(f"{name}: declares {statement.columns}, answers with types {got}")
        seen += 1
    assert not wrong, "\n".join(wrong)
    assert seen > 150


def test_public_has_nothing_in_the_schema(db):
    assert db.execute("""
        SELECT 'schema', nspname::text FROM pg_namespace, aclexplode(coalesce(nspacl, acldefault('n', nspowner))) a
        WHERE nspname = 'pawl' AND a.grantee = 0
        UNION ALL SELECT 'function', p.oid::regprocedure::text FROM pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) a
        WHERE pronamespace = 'pawl'::regnamespace AND a.grantee = 0
        UNION ALL SELECT 'relation', c.oid::regclass::text
        FROM pg_class c, aclexplode(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))) a
        WHERE relnamespace = 'pawl'::regnamespace AND relkind IN ('r', 'p', 'v', 'S') AND a.grantee = 0""").fetchall() == []


def test_no_foreign_key_touches_history_or_hot_tables(db):
    heads = {"projects", "tasks", "task_revisions", "triggers", "trigger_revisions", "trigger_schedules", "pools"}
    keys = db.execute("""SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
        WHERE contype = 'f' AND connamespace = 'pawl'::regnamespace""").fetchall()
    assert keys and {name.removeprefix("pawl.") for key in keys for name in key} <= heads


def test_events_of_heads_stand_apart_and_all_are_numbered_by_one_sequence(db):
    run, trigger = "0193a000-0000-7000-8000-000000000001", "00000000-0000-7000-8000-000000000002"
    known = statements("postgres")
    for subject, kind in ((run, "run.created"), (trigger, "trigger.paused"), (run, "attempt.started"), (run, "run.succeeded")):
        append = known["fact_append" if subject == trigger else "event_append"]
        values = [subject, kind] + ["NULL"] * (len(append.params) - 2)
        if append.many:
            values = [f"{{{value}}}" for value in values]
        answer = db.pgconn.exec_params(append.text.encode(), [None if value == "NULL" else value.encode() for value in values],
                                       [(ARRAYS if append.many else OIDS)[kind] for _, kind, _ in append.params])
        assert answer.status in (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.TUPLES_OK), answer.error_message
    assert db.execute("SELECT kind FROM pawl.events ORDER BY seq").fetchall() == [
        ("run.created",), ("attempt.started",), ("run.succeeded",)]
    assert db.execute("SELECT kind FROM pawl.facts").fetchall() == [("trigger.paused",)]
    assert db.execute("SELECT kind FROM pawl.v_event ORDER BY xid, seq").fetchall() == [
        ("run.created",), ("trigger.paused",), ("attempt.started",), ("run.succeeded",)]


def test_what_is_asked_all_day_reads_no_table_from_end_to_end(db):
    """100,000 triggers, waiting runs and parked ones: what is asked every moment is answered from an index."""
    db.execute("""
        INSERT INTO pawl.projects (id, name, updated_at_ms) VALUES (pawl.id_floor(1), 'default', 0);
        INSERT INTO pawl.tasks (id, project_id, name, state, revision, digest, created_at_ms, updated_at_ms)
          SELECT pawl.id_floor(n), pawl.id_floor(1), n::text, 'active', 1, '', 0, 0 FROM generate_series(1, 1000) n;
        INSERT INTO pawl.triggers (id, task_id, name, state, revision, digest, created_at_ms, updated_at_ms)
          SELECT pawl.id_floor(n), pawl.id_floor(1 + n % 1000), n::text, 'active', 1, '', 0, 0 FROM generate_series(1, 100000) n;
        INSERT INTO pawl.trigger_schedules (trigger_id, task_id, project_id, trigger_revision, task_revision, armed, next_fire_at_ms,
            due_at_ms, updated_at_ms)
          SELECT id, task_id, pawl.id_floor(1), 1, 1, true, 4e12 + pawl.id_at_ms(id), 4e12 + pawl.id_at_ms(id), 0 FROM pawl.triggers;
        INSERT INTO pawl.ready (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms)
          SELECT pawl.id_floor(n), 1, pawl.id_floor(1 + n % 1000), pawl.id_floor(1), 1, n, true, n FROM generate_series(1, 100000) n;
        INSERT INTO pawl.parked (run_id, attempt, task_id, pool_id, slots, order_key, trigger_born, since_at_ms, reason, wake_at_ms)
          SELECT pawl.id_floor(n), 1, pawl.id_floor(1 + n % 1000), pawl.id_floor(1), 1, n, true, n,
            CASE n % 2 WHEN 0 THEN 'limit' ELSE 'retry' END, CASE n % 2 WHEN 1 THEN pawl.now_ms() + n END
          FROM generate_series(100001, 200000) n;
        INSERT INTO pawl.runs (id, project_id, task_id, task_revision, origin, queued_at_ms, priority)
          SELECT pawl.id_floor(n), pawl.id_floor(1), pawl.id_floor(1 + n % 1000), 1, 'manual', n, 0 FROM generate_series(1, 100000) n;
        ANALYZE""")
    one = "pawl.id_floor(5)"
    asked = {"claim_take": f"16, 'r', {one}, 1000", "engine_look": "", "status_coming": "10", "expired_trigger_pauses": "", "rearm_next": "",
             "rearm_quarantined": "", "waiting_wake": "", "waiting_ready": "", "pull_due": "256", "pull_too_late": "256",
             "pull_fits_now": "256", "pull_candidates": f"{one}, 0, {one}, 512", "pull_heads": f"{one}, 64", "pull_pools": "",
             "pull_detail": one,
             "finish_waiting": one, "ready_from_parked": one,
             "lease_row": one, "lease_grant": f"{one}, 1, {one}, '', 1", "event_append": f"{one}, 'run.x', 1, 1, NULL",
             "events_of": f"{one}, 0", "run_get": one, "runs_before": f"{one}, 20", "runs_of_task_before": f"{one}, {one}, 20",
             "run_stand": one, "schedule_get": one, "schedules_of_task": one, "unfinished_of_task": f"{one}, 100", "task_use": one,
             "admit_overlap": one, "admit_others": one, "explain_hot": one, "task_ends": one}
    wrong = []
    known, words = statements("postgres"), {"int": "bigint", "text": "text", "id": "uuid", "blob": "bytea", "real": "float8"}
    for name, values in asked.items():
        statement = known[name]
        array = "[]" if statement.many else ""
        types = ", ".join(words[kind] + array for _, kind, _ in statement.params)
        if statement.many:
            values = ", ".join(f"ARRAY[{value}]" for value in values.split(", "))
        db.execute(f"PREPARE {name}{f' ({types})' if types else ''} AS {statement.text}")
        plan = "\n".join(line for (line,) in db.execute(f"EXPLAIN EXECUTE {name}{f' ({values})' if values else ''}"))
        for table in ("trigger_schedules", "triggers", "ready", "parked", "runs_default"):
            if f"Seq Scan on {table} " in plan or f"Seq Scan on {table}\n" in plan:
                wrong.append(f"{name}:\n{plan}")
    assert not wrong, "\n\n".join(wrong)
