/* SPDX-License-Identifier: Apache-2.0 */
/* What is dropped by age, what never is, and what remains known about it. */
#include "base/clock.h"
#include "store_drive.h"

#define DAYS_30 (30 * PAWL_DAY_MS)

/* n finished runs of task a, a minute apart, the newest `newest_days` days old. Scheduled ones belong to trigger t. */
static void make_history(gint n, gint newest_days, gboolean scheduled) {
  poke(
    "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d), "
    "at(i, ms) AS (SELECT i, CAST(strftime('%%s', 'now') AS INTEGER) * 1000 - %d * 86400000 - i * 60000 FROM n) "
    "INSERT INTO runs SELECT unhex_(ms, i), s.project_id, s.task_id, 1, %s, '%s', ms, ms, 0, NULL, NULL, NULL FROM at, trigger_schedules s",
    n, newest_days, scheduled ? "s.trigger_id, 1" : "NULL, NULL", scheduled ? "schedule" : "manual");
}

static void id_of(sqlite3_context *context, int n, sqlite3_value **values) {
  PawlId id = {{0}};
  gint64 ms = sqlite3_value_int64(values[0]), i = sqlite3_value_int64(values[1]);
  for (int b = 0; b < 6; b++) id.b[b] = (guint8)((guint64)ms >> (40 - 8 * b));
  id.b[6] = 0x80;
  for (int b = 0; b < 4; b++) id.b[12 + b] = (guint8)((guint64)i >> (24 - 8 * b));
  sqlite3_result_blob(context, &id, sizeof id, SQLITE_TRANSIENT);
}

static int add_function(sqlite3 *db, char **why, const void *api) {
  return sqlite3_create_function(db, "unhex_", 2, SQLITE_UTF8, NULL, id_of, NULL, NULL);
}

static void finish_history(void) {
  poke(
    "INSERT INTO attempts (run_id, attempt, state, last, lease_version, finished_at_ms) "
    "SELECT id, 1, 'succeeded', 1, 1, queued_at_ms + 1000 FROM runs WHERE id NOT IN (SELECT run_id FROM attempts) AND id NOT IN (SELECT run_id FROM ready);"
    "INSERT OR IGNORE INTO events (subject, seq, at_ms, kind) SELECT id, 1, queued_at_ms, 'run.created' FROM runs;"
    "INSERT OR IGNORE INTO output SELECT id, 1, 1, queued_at_ms, 1, x'00' FROM runs");
}

static guint run_bites(PawlStore *store, guint bite) {
  guint n = 0;
  gboolean more = TRUE;
  while (more) {
    g_autoptr(GError) error = NULL;
    pawl_store_retention(store, DAYS_30, bite, &more, &error);
    g_assert_no_error(error);
    n++;
    g_assert_cmpuint(n, <, 1000);
  }
  return n;
}

static PawlStore *open_store(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
  return store;
}

static void test_bites(void) {
  PawlStore *store = open_store();
  make_history(95, 31, FALSE);
  make_history(5, 29, FALSE);
  finish_history();
  g_assert_cmpuint(run_bites(store, 10), ==, 10);
  assert_peek("5|5|5|5", "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM attempts), (SELECT count(*) FROM output), "
                         "(SELECT count(*) FROM events e JOIN runs r ON r.id = e.subject)");
  assert_peek("0", "SELECT count(*) FROM events WHERE kind = 'run.created' AND subject NOT IN (SELECT id FROM runs)");
  assert_peek("0", "SELECT count(*) FROM meta WHERE key = 'horizon_ms'");
  fixture_store_close(store);
}

/* However old, what has not ended stays, and does not stop the others. */
static void test_unfinished(void) {
  PawlStore *store = open_store();
  make_history(40, 40, FALSE);
  poke("INSERT INTO ready SELECT r.id, 1, r.task_id, (SELECT id FROM pools), 1, 0, 0, 0, 0, NULL, 0 FROM runs r ORDER BY r.id LIMIT 15");
  finish_history();
  poke(
    "UPDATE attempts SET finished_at_ms = finished_at_ms + 20 * 86400000 WHERE run_id = (SELECT max(id) FROM runs)"); /* ran for twenty days */
  run_bites(store, 4);
  assert_peek("16|15|1", "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM ready), (SELECT count(*) FROM attempts)");
  fixture_store_close(store);
}

static void test_horizon(void) {
  PawlStore *store = open_store();
  make_history(10, 35, TRUE);
  finish_history();
  gint64 newest = peek_int("SELECT max(nominal_at_ms) FROM runs");
  run_bites(store, 3);
  g_assert_cmpint(peek_int("SELECT value FROM meta WHERE key = 'horizon_ms'"), ==, newest + 1);
  poke("UPDATE meta SET value = '99999999999999' WHERE key = 'horizon_ms'");
  make_history(10, 33, TRUE);
  finish_history();
  run_bites(store, 100);
  assert_peek("0|99999999999999", "SELECT (SELECT count(*) FROM runs), value FROM meta WHERE key = 'horizon_ms'"); /* it only rises */
  fixture_store_close(store);
}

static void test_output_and_ledger(void) {
  PawlStore *store = open_store();
  make_history(6, 1, FALSE);
  finish_history();
  poke(
    "INSERT INTO output_until SELECT id, 1000 FROM runs ORDER BY id LIMIT 4;"
    "INSERT INTO ledger SELECT trigger_id, 1, 2, 'skipped', 1, 1, NULL, 1000 FROM trigger_schedules;"
    "INSERT INTO ledger SELECT trigger_id, 3, 4, 'skipped', 1, 1, NULL, 9999999999999 FROM trigger_schedules;"
    "INSERT INTO workers VALUES (x'00000000000000000000000000000001', 'w', 1, 1, 'b', 1, 'v', 1, 1, 2), (x'00000000000000000000000000000002', 'w', 2, 1, 'b', 1, 'v', 1, 1, NULL);"
    "UPDATE events SET at_ms = 1000 WHERE kind = 'trigger.published'; "
    "INSERT INTO events (subject, seq, at_ms, kind) SELECT id, 7, 5, 'trigger.paused' FROM triggers");
  run_bites(store, 2);
  assert_peek("6|2|0", "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM output), (SELECT count(*) FROM output_until)");
  assert_peek("3", "SELECT from_at_ms FROM ledger");
  assert_peek("2", "SELECT generation FROM workers");
  assert_peek("trigger.paused", "SELECT kind FROM events WHERE subject = (SELECT id FROM triggers)"); /* a subject's newest fact stays */
  fixture_store_close(store);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  sqlite3_auto_extension((void (*)(void))add_function);
  g_test_add_func("/store/retention/bites", test_bites);
  g_test_add_func("/store/retention/unfinished", test_unfinished);
  g_test_add_func("/store/retention/horizon", test_horizon);
  g_test_add_func("/store/retention/output_and_ledger", test_output_and_ledger);
  return g_test_run();
}
