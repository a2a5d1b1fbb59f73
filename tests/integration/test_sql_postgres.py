# SPDX-License-Identifier: Apache-2.0
"""The schema and the statements of the PostgreSQL dialect, against a real server: the scripts run, every statement can be prepared with the
types it declares and answers with the columns it declares, and PUBLIC has nothing."""
import psycopg.pq

from sqltools import statements

pytest_plugins = "sqltools"

OIDS = {"int": 20, "text": 25, "id": 2950, "blob": 17, "real": 701}
ARRAYS = {"int": 1016, "text": 1009, "id": 2951, "blob": 1001, "real": 1022}
READ_AS = {"int": {20, 21, 23, 16}, "text": {25}, "id": {2950}, "blob": {17}, "real": {701}}


def test_every_statement_is_prepared_with_its_declared_types(db):
    wrong, seen = [], 0
    for name, statement in statements("postgres").items():
        many = "-- many: yes" in open(statement.path).read()
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
        answer = db.pgconn.exec_params(append.text.encode(), [subject.encode(), kind.encode()] + [None] * (len(append.params) - 2),
                                       [OIDS[kind] for _, kind, _ in append.params])
        assert answer.status == psycopg.pq.ExecStatus.COMMAND_OK, answer.error_message
    assert db.execute("SELECT kind FROM pawl.events ORDER BY seq").fetchall() == [
        ("run.created",), ("attempt.started",), ("run.succeeded",)]
    assert db.execute("SELECT kind FROM pawl.facts").fetchall() == [("trigger.paused",)]
    assert db.execute("SELECT kind FROM pawl.v_event ORDER BY xid, seq").fetchall() == [
        ("run.created",), ("trigger.paused",), ("attempt.started",), ("run.succeeded",)]
