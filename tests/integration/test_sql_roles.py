# SPDX-License-Identifier: Apache-2.0
"""G10 on PostgreSQL: each kind of role can do what its table says and nothing else, tried by doing it as that role."""
import psycopg
import psycopg.errors
import pytest

KINDS = ["admin", "runtime", "ingress", "viewer", "enqueue"]
HEADS = ["projects", "tasks", "task_revisions", "triggers", "trigger_revisions", "pools"]
# S, I, U, D by kind; "U:column" is that column alone.
TABLES = {
    **{name: ("S I U", "S", "S", "S", "") for name in HEADS},
    **{name: ("S I U", "S U:generation", "", "S", "") for name in ("pool_gates", "task_gates")},
    "trigger_schedules": ("S I U", "S U", "", "S", ""),
    **{name: ("S", "S I", "", "S", "") for name in ("runs", "attempts", "events")},
    "facts": ("S I", "S I D", "", "S", ""),
    "output": ("S", "S I D", "", "S", ""),
    "output_until": ("S", "S I U D", "", "S", ""),
    "ledger": ("S I U:to_at_ms U:count U:count_exact U:recorded_at_ms", "S I U D", "", "S", ""),
    "cancels": ("S I", "S I D", "", "S", ""),
    **{name: ("S", "S I U D", "", "S", "") for name in ("ready", "parked", "leased", "workers", "replicas")},
    "meta": ("S", "S I U", "S", "S", ""),
    "migrations": ("S", "S", "S", "S", "S"),
}
VIEWS = ("S", "S", "", "S", "")
FUNCTIONS = {"now_ms()": "X X X X -", "at(0)": "X X - X -", "role_privileges()": "X X X X -",
             "privilege_differences('viewer', 'p_viewer')": "X X X X -",
             "partitions()": "X X - X -", "id_floor(0)": "X X - X -", "id_at_ms('00000000-0000-0000-0000-000000000000')": "X X - X -",
             "enqueue('x')": "X X X - X", "cancel('00000000-0000-0000-0000-000000000000')": "X X X - X",
             "retry('00000000-0000-0000-0000-000000000000')": "X X X - X", "find_task('x', 'x')": "- - - - -",
             "create_run(NULL, NULL)": "- - - - -",
             **{f"{call}('00000000-0000-0000-0000-000000000000'{more})": rights for call, more, rights in (
                 ("cancel_run", ", 'x', 'x'", "X X - - -"), ("end_waiting", ", 'x'", "- - - - -"), ("unpause_runs", "", "X X - - -"),
                 ("release_runs", "", "X X - - -"), ("move_runs", ", NULL", "X - - - -"), ("end_pause", "", "- X - - -"))},
             "sweep_cancels(1)": "- X - - -", "tidy_waiting(1)": "- X - - -",
             "append_event(NULL, 'x', 1, 1, NULL)": "- - - - -", "new_id(0)": "- - - - -", "duration_ms('1s')": "- - - - -",
             "ensure_partitions()": "- X - - -", "drop_partitions(0)": "- X - - -", "grant_role('viewer', 'p_viewer')": "- - - - -",
             "make_role('viewer', 'p_made')": "- - - - -"}


@pytest.fixture
def roles(database, db):
    with database.connect("postgres") as admin:
        for kind in KINDS:
            admin.execute(f"CREATE ROLE p_{kind} LOGIN")
    for kind in KINDS:
        assert db.execute("SELECT * FROM pawl.grant_role(%s, %s)", (kind, f"p_{kind}")).fetchall() == []
    return {kind: database.connect(f"p_{kind}") for kind in KINDS}


def allowed(conn, text):
    """Whether the role may: any other error than `insufficient privilege` came after that had been granted. Nothing stays."""
    try:
        conn.execute(f"BEGIN; {text}; ROLLBACK")
    except psycopg.errors.InsufficientPrivilege:
        conn.execute("ROLLBACK")
        return False
    except psycopg.Error:
        conn.execute("ROLLBACK")
    return True


def columns_of(db, table):
    return [name for (name,) in db.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped", (f"pawl.{table}",))]


def tries_of(db, table, relkind):
    """(what is needed, statement): a letter of TABLES, either of two, or nothing that any role has."""
    yield "S", f"SELECT 1 FROM pawl.{table} LIMIT 0"
    if relkind != "v":
        yield "I", f"INSERT INTO pawl.{table} DEFAULT VALUES"
        yield "D", f"DELETE FROM pawl.{table} WHERE false"
        yield "", f"TRUNCATE pawl.{table}"
        for column in columns_of(db, table) if table in TABLES else []:
            yield f"U U:{column}", f"UPDATE pawl.{table} SET {column} = NULL WHERE false"


def test_the_matrix_of_tables_and_verbs(db, roles):
    wrong, tried = [], 0
    relations = dict(db.execute(
        "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = 'pawl'::regnamespace AND relkind IN ('r', 'p', 'v')"))
    for table, relkind in relations.items():
        tries = list(tries_of(db, table, relkind))
        for kind, rights in zip(KINDS, TABLES.get(table, VIEWS if relkind == "v" else ("",) * 5)):
            for needed, text in tries:
                tried += 1
                expected = bool(set(needed.split()) & set(rights.split()))
                if allowed(roles[kind], text) != expected:
                    wrong.append(f"{kind}: {text} is {'refused' if expected else 'allowed'}")
    assert not wrong, "\n".join(wrong[:40])
    assert tried > 1000
    assert set(TABLES) <= set(relations)


def test_the_matrix_of_functions_sequences_schema_and_database(db, roles):
    wrong = []
    for call, rights in FUNCTIONS.items():
        for kind, right in zip(KINDS, rights.split()):
            if allowed(roles[kind], f"SELECT pawl.{call}") != (right == "X"):
                wrong.append(f"{kind}: {call}")
    known = {name for (name,) in db.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'pawl'::regnamespace")}
    assert known == {call.split("(")[0] for call in FUNCTIONS}
    for kind, conn in roles.items():
        tries = {"SELECT nextval('pawl.event_numbers')": kind in ("admin", "runtime"), "SELECT setval('pawl.event_numbers', 1)": False,
                 "SELECT nextval('pawl.worker_generations')": kind == "runtime", "CREATE TABLE pawl.mine ()": False,
                 "CREATE TEMPORARY TABLE mine ()": False, "CREATE SCHEMA mine": False, "DROP TABLE pawl.meta": False,
                 "ALTER TABLE pawl.meta ADD COLUMN x int": False}
        wrong += [f"{kind}: {text}" for text, may in tries.items() if allowed(conn, text) != may]
    assert not wrong, "\n".join(wrong)


def test_differences_are_seen_and_mended(database, db, roles):
    def differences(kind="runtime"):
        return db.execute("SELECT * FROM pawl.privilege_differences(%s, %s)", (kind, f"p_{kind}")).fetchall()
    assert differences() == []
    db.execute("""REVOKE INSERT ON pawl.runs FROM p_runtime; GRANT DELETE ON pawl.runs TO p_runtime;
        GRANT UPDATE ON pawl.pool_gates TO p_runtime; GRANT UPDATE (state) ON pawl.tasks TO p_runtime;
        GRANT SELECT ON pawl.meta TO p_runtime WITH GRANT OPTION; GRANT CREATE ON SCHEMA pawl TO p_runtime;
        GRANT SELECT ON pawl.runs_default TO p_runtime; GRANT USAGE ON SEQUENCE pawl.event_numbers TO PUBLIC;
        GRANT EXECUTE ON FUNCTION pawl.grant_role(text, name) TO p_runtime;
        REVOKE USAGE ON SEQUENCE pawl.worker_generations FROM p_runtime""")
    assert differences() == [
        ("FUNCTION pawl.grant_role(kind text, role name)", "EXECUTE", "extra"),
        ("SCHEMA pawl", "CREATE", "extra"),
        ("SEQUENCE pawl.worker_generations", "USAGE", "missing"),
        ("TABLE pawl.meta", "SELECT WITH GRANT OPTION", "extra"),
        ("TABLE pawl.pool_gates", "UPDATE", "extra"),
        ("TABLE pawl.pool_gates", "UPDATE (generation)", "missing"),
        ("TABLE pawl.runs", "DELETE", "extra"),
        ("TABLE pawl.runs", "INSERT", "missing"),
        ("TABLE pawl.runs_default", "SELECT", "extra"),
        ("TABLE pawl.tasks", "UPDATE (state)", "extra")]
    assert differences("viewer") == [("SEQUENCE pawl.event_numbers", "USAGE", "extra")]  # PUBLIC gives it
    assert db.execute("SELECT * FROM pawl.grant_role('runtime', 'p_runtime')").fetchall() == []
    assert db.execute("SELECT * FROM pawl.grant_role('runtime', 'p_runtime')").fetchall() == []  # again: nothing to do
    left = db.execute("SELECT * FROM pawl.grant_role('viewer', 'p_viewer')").fetchall()
    assert left == [("SEQUENCE pawl.event_numbers", "USAGE", "extra")]


def test_what_a_membership_gives_counts_even_where_it_is_not_inherited(database, db, roles):
    def differences(kind):
        return db.execute("SELECT * FROM pawl.privilege_differences(%s, %s)", (kind, f"p_{kind}")).fetchall()
    with database.connect("postgres") as admin:
        admin.execute("ALTER ROLE p_viewer NOINHERIT; GRANT p_runtime TO p_viewer")
        assert ("TABLE pawl.ready", "DELETE", "extra") in differences("viewer")
        admin.execute("REVOKE p_runtime FROM p_viewer; GRANT pg_read_all_data TO p_runtime; GRANT owner TO p_ingress")
        admin.execute("ALTER ROLE p_admin SUPERUSER")
    assert differences("viewer") == []
    assert ("TABLE pawl.attempts_default", "SELECT", "extra") in differences("runtime")
    assert differences("ingress") == [("ROLE owner", "OWNER", "extra")]
    assert differences("admin") == [("ROLE p_admin", "SUPERUSER", "extra")]


def test_only_the_owner_grants_and_names_are_quoted(database, db, roles):
    with database.connect("postgres") as admin:
        admin.execute('CREATE ROLE "a""; DROP TABLE pawl.meta; --" LOGIN')
        admin.execute("GRANT EXECUTE ON FUNCTION pawl.grant_role(text, name) TO p_admin")
    assert db.execute("SELECT * FROM pawl.grant_role('viewer', %s)", ('a"; DROP TABLE pawl.meta; --',)).fetchall() == []
    with pytest.raises(psycopg.Error, match="by the owner") as refused:
        roles["admin"].execute("SELECT * FROM pawl.grant_role('admin', 'p_admin')")
    assert refused.value.sqlstate == "PW403"
    for kind, role, text in (("king", "p_admin", "no kind of role 'king'"), ("viewer", "nobody_here", "no role 'nobody_here'")):
        with pytest.raises(psycopg.Error, match=text) as refused:
            db.execute("SELECT * FROM pawl.grant_role(%s, %s)", (kind, role))
        assert refused.value.sqlstate == "PW404"
