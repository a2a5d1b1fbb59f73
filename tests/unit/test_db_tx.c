/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors and transactions: what is legal, what an error leaves behind, what a snapshot sees. */
#include "base/clock.h"
#include "test_db.h"

static void set(PawlDb *db, const char *name, gint64 value) { exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text(name), PAWL_INT(value))); }
static gint64 get(PawlDb *db, const char *name) { return read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text(name))); }

static gboolean refused(gboolean ok, GError **error, const char *says) {
  g_assert_false(ok);
  assert_error(*error, PAWL_ERROR_INTERNAL, says);
  g_clear_error(error);
  return TRUE;
}

static void test_commit_and_rollback(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url), *other = open_again(place->url);
  set(db, "a", 1);
  begin(db, PAWL_TX_WRITE);
  g_assert_true(pawl_db_in_transaction(db));
  exec(db, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(10)));
  g_assert_cmpint(get(db, "a"), ==, 11);
  g_assert_cmpint(get(other, "a"), ==, 1);
  pawl_db_rollback(db);
  g_assert_false(pawl_db_in_transaction(db));
  g_assert_cmpint(get(db, "a"), ==, 1);
  begin(db, PAWL_TX_WRITE);
  exec(db, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(10)));
  commit(db);
  g_assert_cmpint(get(other, "a"), ==, 11);
  pawl_db_rollback(db); /* legal always */
  pawl_db_rollback(db);
  pawl_db_close(other);
  pawl_db_close(db);
}

static void test_order_of_calls(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  refused(pawl_db_commit(db, &error), &error, "no transaction is open");
  begin(db, PAWL_TX_WRITE);
  refused(pawl_db_begin(db, PAWL_TX_READ, &error), &error, "a transaction is open already");
  set(db, "a", 1); /* the transaction is still good */
  commit(db);
  begin(db, PAWL_TX_READ);
  refused(
    pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("b"), PAWL_INT(1))), &error, "the transaction is for reading");
  pawl_db_rollback(db);
  begin(db, PAWL_TX_READ);
  refused(pawl_db_script(db, "CREATE TABLE x (a)", &error), &error, "needs a write transaction");
  commit(db);
  refused(pawl_db_script(db, "CREATE TABLE x (a)", &error), &error, "needs a write transaction");
  g_assert_cmpint(get(db, "a"), ==, 1);
  pawl_db_close(db);
}

static void test_after_an_error_only_rollback(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  set(db, "a", 1);
  begin(db, PAWL_TX_WRITE);
  set(db, "b", 1);
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(2))));
  assert_error(error, PAWL_ERROR_CONFLICT, "counter_set: UNIQUE constraint failed: counters.name");
  g_clear_error(&error);
  refused(pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("c"), PAWL_INT(2))), &error, "only rollback is legal");
  refused(pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS) != NULL, &error, "only rollback is legal");
  refused(pawl_db_script(db, "DELETE FROM counters", &error), &error, "only rollback is legal");
  refused(pawl_db_commit(db, &error), &error, "it was rolled back");
  g_assert_false(pawl_db_in_transaction(db));
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS);
  g_assert_true(pawl_rows_next(rows, &error));
  g_assert_cmpstr(pawl_rows_text(rows, 0), ==, "a");
  g_assert_false(pawl_rows_next(rows, &error));
  pawl_rows_close(rows);
  rows = NULL;
  pawl_db_close(db);
}

/* Constraints are named, values are not. */
static void test_constraints(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("secret"), PAWL_INT(1000000))));
  assert_error(error, PAWL_ERROR_CONFLICT, "counter_is_small");
  g_assert_null(strstr(error->message, "secret"));
  g_clear_error(&error);
  g_assert_false(pawl_db_exec(db, PAWL_SQL_CHILD_ADD, NULL, &error, PAWL_ROW(pawl_text("secret"))));
  assert_error(error, PAWL_ERROR_CONFLICT, "child_add: FOREIGN KEY constraint failed");
  g_assert_null(strstr(error->message, "secret"));
  g_clear_error(&error);
  set(db, "after", 1); /* outside a transaction nothing is left behind */
  pawl_db_close(db);
}

static void test_cursor_once(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  set(db, "a", 1);
  set(db, "b", 1);
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS);
  g_assert_true(pawl_rows_next(rows, &error));
  refused(pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS) != NULL, &error, "counter_names: it is open already");
  refused(pawl_db_begin(db, PAWL_TX_READ, &error), &error, "a cursor is open");
  refused(
    pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("c"), PAWL_INT(1))), &error, "a cursor is open; close it");
  g_assert_cmpint(get(db, "b"), ==, 1); /* another statement is free to run, and the cursor goes on */
  g_assert_true(pawl_rows_next(rows, &error));
  g_assert_cmpstr(pawl_rows_text(rows, 0), ==, "b");
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
  g_assert_false(pawl_rows_next(rows, &error)); /* still none */
  g_assert_no_error(error);
  set(db, "c", 1); /* at its end it is in nobody's way */
  begin(db, PAWL_TX_WRITE);
  set(db, "d", 1);
  commit(db);
  pawl_rows_close(rows);
  refused(pawl_rows_next(rows, &error), &error, "the cursor was closed");
  rows = pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS);
  g_assert_true(pawl_rows_next(rows, &error));
  pawl_rows_close(rows);
  pawl_db_close(db);
}

static void test_query_many(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  set(db, "a", 1);
  set(db, "c", 3);
  const PawlValue names[] = {pawl_text("c"), pawl_text("b"), pawl_text("a"), pawl_text("a")};
  static const struct {
    gsize index;
    gint64 value;
  } expected[] = {{0, 3}, {2, 1}, {3, 1}};
  PawlRows *rows = pawl_db_query_many(db, PAWL_SQL_COUNTER_GET, &error, names, 1, 4);
  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
    g_assert_true(pawl_rows_next(rows, &error));
    g_assert_cmpuint(pawl_rows_index(rows), ==, expected[i].index);
    g_assert_cmpint(pawl_rows_int(rows, 0), ==, expected[i].value);
  }
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
  pawl_rows_close(rows);
  rows = pawl_db_query_many(db, PAWL_SQL_COUNTER_GET, &error, names, 1, 0);
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
  pawl_rows_close(rows);
  refused(pawl_db_query_many(db, PAWL_SQL_COUNTER_GET, &error, (PawlValue[]){names[0], PAWL_INT(1)}, 1, 2) != NULL, &error, "got int");
  pawl_db_close(db);
}

static void test_cursor_and_transaction(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  set(db, "a", 1);
  begin(db, PAWL_TX_WRITE);
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_COUNTER_NAMES, &error, PAWL_NO_PARAMS);
  g_assert_true(pawl_rows_next(rows, &error));
  set(db, "b", 1);
  refused(pawl_db_commit(db, &error), &error, "a cursor is still open");
  refused(pawl_rows_next(rows, &error), &error, "its transaction is over");
  pawl_rows_close(rows);
  begin(db, PAWL_TX_WRITE);
  rows = pawl_db_query(db, PAWL_SQL_COUNTER_ADD_RETURNING, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(4)));
  g_assert_true(pawl_rows_next(rows, &error));
  g_assert_cmpint(pawl_rows_int(rows, 0), ==, 5);
  pawl_rows_close(rows);
  commit(db);
  refused(pawl_db_query(db, PAWL_SQL_COUNTER_ADD_RETURNING, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(4))) != NULL, &error,
    "needs a transaction");
  g_assert_cmpint(get(db, "a"), ==, 5);
  pawl_db_close(db);
}

static void test_one_snapshot(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url), *other = open_again(place->url);
  set(db, "a", 1);
  begin(other, PAWL_TX_READ);
  g_assert_cmpint(get(other, "a"), ==, 1);
  exec(db, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("a"), PAWL_INT(1)));
  g_assert_cmpint(get(other, "a"), ==, 1);
  commit(other);
  g_assert_cmpint(get(other, "a"), ==, 2);
  pawl_db_close(other);
  pawl_db_close(db);
}

static void test_now_stands_still(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  set(db, "a", 1);
  gint64 before = pawl_clock_wall_ms(), first = 0;
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_NOW_THRICE, &error, PAWL_NO_PARAMS);
  for (int i = 0; i < 4; i++) {
    g_assert_true(pawl_rows_next(rows, &error));
    if (i == 0) first = pawl_rows_int(rows, 0);
    g_assert_cmpint(pawl_rows_int(rows, 0), ==, first);
    wait_until(pawl_clock_wall_ms() > first); /* time goes on, the statement's does not */
    get(db, "a");
  }
  pawl_rows_close(rows);
  g_assert_cmpint(first, >=, before);
  g_assert_cmpint(read_one(db, PAWL_SQL_NOW_THRICE, PAWL_NO_PARAMS), >, first);
  pawl_db_close(db);
}

static void test_script(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  begin(db, PAWL_TX_WRITE);
  g_assert_false(pawl_db_script(db, "-- fine;\nCREATE TABLE x (a);\n\n/* ; */ SELECT 1;\n  CREATE\n TABLE x (b);", &error));
  assert_error(error, PAWL_ERROR_INTERNAL, "the statement at line 5: table x already exists");
  g_clear_error(&error);
  pawl_db_rollback(db);
  begin(db, PAWL_TX_WRITE);
  refused(pawl_db_script(db, "CREATE TABLE x (a); COMMIT;", &error), &error, "line 1 ends the transaction");
  pawl_db_rollback(db);
  begin(db, PAWL_TX_WRITE);
  g_assert_true(pawl_db_script(db, "CREATE TABLE y (a); DROP TABLE children; -- end", &error));
  commit(db);
  gsize n;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  g_assert_cmpint(n, ==, 2);
  g_assert_cmpint(list[1].number, ==, 2);
  g_assert_cmpstr(list[1].name, ==, "steps");
  pawl_db_close(db);
}

/* Statements prepared before the schema changed go on working. */
static void test_schema_changes_under_us(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url), *other = open_again(place->url);
  set(db, "a", 1);
  g_assert_cmpint(get(other, "a"), ==, 1);
  begin(db, PAWL_TX_WRITE);
  g_assert_true(pawl_db_script(db, "ALTER TABLE counters ADD COLUMN more TEXT; CREATE INDEX i ON counters (value);", &error));
  commit(db);
  g_assert_cmpint(get(other, "a"), ==, 1);
  pawl_db_tidy(other);
  pawl_db_tidy(other);
  g_assert_cmpint(get(other, "a"), ==, 1);
  pawl_db_close(other);
  pawl_db_close(db);
}

static gint64 size_of(const char *path, const char *suffix) {
  g_autofree char *name = g_strconcat(path, suffix, NULL);
  GStatBuf st;
  return g_stat(name, &st) == 0 ? (gint64)st.st_size : -1;
}

/* A reader keeps the log from being used again; once it is gone, tidy cuts the log. */
static void test_tidy(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url), *reader = open_again(place->url);
  g_autofree char *bytes = g_malloc0(1 << 20);
  begin(reader, PAWL_TX_READ);
  g_assert_cmpint(read_one(reader, PAWL_SQL_STEP_COUNT, PAWL_NO_PARAMS), ==, 0);
  for (int i = 0; i < 8; i++) exec(db, PAWL_SQL_STEP_ADD, PAWL_ROW(PAWL_INT(i), PAWL_INT(0), pawl_blob(bytes, 1 << 20)));
  pawl_db_tidy(db);
  g_assert_cmpint(size_of(place->path, "-wal"), >, 8 << 20);
  commit(reader);
  pawl_db_tidy(reader);
  g_assert_cmpint(size_of(place->path, "-wal"), ==, 0);
  g_assert_cmpint(read_one(db, PAWL_SQL_STEP_COUNT, PAWL_NO_PARAMS), ==, 8);
  pawl_db_close(reader);
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/tx/" name, Place, NULL, place_make, function, place_drop)
  ADD("commit-and-rollback", test_commit_and_rollback);
  ADD("order-of-calls", test_order_of_calls);
  ADD("after-an-error-only-rollback", test_after_an_error_only_rollback);
  ADD("constraints", test_constraints);
  ADD("cursor-once", test_cursor_once);
  ADD("query-many", test_query_many);
  ADD("cursor-and-transaction", test_cursor_and_transaction);
  ADD("one-snapshot", test_one_snapshot);
  ADD("now-stands-still", test_now_stands_still);
  ADD("script", test_script);
  ADD("schema-changes-under-us", test_schema_changes_under_us);
  ADD("tidy", test_tidy);
  return g_test_run();
}
