/* SPDX-License-Identifier: Apache-2.0 */
/* The driver for PostgreSQL against a real server (db/with-postgres.py): values, arrays, large batches, deadlines, lost connections. */
#include "test_db.h"

#include <poll.h>

static const PawlId an_id = {{0, 1, 2, 0xff, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
static const char *server(void) { return g_getenv("PAWL_TEST_PG_URL"); }

static PawlDb *open_short(gint64 statement_ms, gint64 busy_ms) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = pawl_db_open(&(PawlDbOptions){.url = server(), .statement_ms = statement_ms, .busy_ms = busy_ms}, &error);
  g_assert_no_error(error);
  return db;
}

static void terminate(gint64 pid) {
  PawlDb *other = open_again(server());
  g_assert_cmpint(read_one(other, PAWL_SQL_PG_TERMINATE, PAWL_ROW(PAWL_INT(pid))), ==, 1);
  pawl_db_close(other);
  g_usleep(100000); /* the signal is on its way */
}

static guint64 generation(PawlDb *db) { return pawl_db_server(db)->generation; }

static void set(PawlDb *db, const char *name, gint64 value) { exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text(name), PAWL_INT(value))); }
static gint64 get(PawlDb *db, const char *name) { return read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text(name))); }

/* ---- values ---- */

static void test_widths(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_again(server());
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_PG_WIDTHS, &error, PAWL_NO_PARAMS);
  g_assert_true(pawl_rows_next(rows, &error));
  static const gint64 wanted[] = {-2, -3, -4, 1, 0};
  for (int i = 0; i < 5; i++) g_assert_cmpint(pawl_rows_int(rows, i), ==, wanted[i]);
  pawl_rows_close(rows);
  pawl_db_close(db);
}

static void check_echo(PawlRows *rows, gsize i) {
  gsize bytes;
  g_assert_cmpuint(pawl_rows_index(rows), ==, i);
  for (int column = 0; column < 5; column++) g_assert_true(pawl_rows_is_null(rows, column) == (i % 5 == 1));
  if (i % 5 == 1) return;
  g_assert_cmpint(pawl_rows_int(rows, 0), ==, (gint64)i);
  g_assert_cmpstr(pawl_rows_text(rows, 1), ==, "ä\"{},\\");
  const void *blob = pawl_rows_blob(rows, 2, &bytes);
  assert_bytes(blob, bytes, "\0\xff", 2);
  g_assert_true(pawl_rows_real(rows, 3) == 0.5);
  PawlId id = pawl_rows_id(rows, 4);
  g_assert_true(pawl_id_equal(&id, &an_id));
}

/* 25,000 rows of values are three arrays: which row of values a row belongs to is right on both sides of their borders. */
static void test_arrays(void) {
  enum { N = 25000 };
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_again(server());
  g_autofree PawlValue *values = g_new0(PawlValue, 5 * N);
  for (gsize i = 0; i < N; i++) {
    if (i % 5 == 1) continue;
    PawlValue row[] = {PAWL_INT(i), pawl_text("ä\"{},\\"), pawl_blob("\0\xff", 2), {.type = PAWL_TYPE_REAL, .d = 0.5}, pawl_id(&an_id)};
    memcpy(values + 5 * i, row, sizeof row);
  }
  PawlRows *rows = pawl_db_query_many(db, PAWL_SQL_PG_ECHO_MANY, &error, values, 5, N);
  g_assert_no_error(error);
  for (gsize i = 0; i < N; i++) {
    if (i % 2 != 0 && i % 5 != 1) continue;
    g_assert_true(pawl_rows_next(rows, &error));
    check_echo(rows, i);
  }
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
  pawl_rows_close(rows);
  pawl_db_close(db);
}

static void test_exec_many_arrays(void) {
  enum { N = 25000 };
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(server());
  g_autofree PawlValue *values = g_new(PawlValue, 3 * N);
  g_autofree gint64 *changed = g_new(gint64, N);
  for (gsize i = 0; i < N; i++) {
    PawlValue row[] = {PAWL_INT(i), PAWL_INT(1), pawl_blob("x", 1)};
    memcpy(values + 3 * i, row, sizeof row);
  }
  exec(db, PAWL_SQL_STEP_ADD, PAWL_ROW(PAWL_INT(9999), PAWL_INT(1), pawl_blob("x", 1)));
  exec(db, PAWL_SQL_STEP_ADD, PAWL_ROW(PAWL_INT(10000), PAWL_INT(1), pawl_blob("x", 1)));
  pawl_db_exec_many(db, PAWL_SQL_STEP_ADD, values, 3, N, changed, &error);
  g_assert_no_error(error);
  for (gsize i = 0; i < N; i++) g_assert_cmpint(changed[i], ==, i != 9999 && i != 10000);
  g_assert_cmpint(read_one(db, PAWL_SQL_STEP_COUNT, PAWL_NO_PARAMS), ==, N);
  pawl_db_close(db);
}

static void test_exec_many_pipelined(void) {
  enum { N = 20000 };
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(server());
  set(db, "c", 0);
  g_autofree PawlValue *values = g_new(PawlValue, 2 * N);
  for (gsize i = 0; i < N; i++) {
    values[2 * i] = pawl_text("c");
    values[2 * i + 1] = PAWL_INT(1);
  }
  pawl_db_exec_many(db, PAWL_SQL_COUNTER_ADD, values, 2, 2000, NULL, &error);
  g_assert_no_error(error);
  for (gsize i = 0; i < N; i++) values[2 * i] = pawl_text("nobody");
  pawl_db_exec_many(db, PAWL_SQL_COUNTER_ADD, values, 2, N, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpint(get(db, "c"), ==, 2000);
  pawl_db_close(db);
}

/* ---- deadlines ---- */

static void test_deadline(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_short(300, 0);
  gint64 since = g_get_monotonic_time();
  g_assert_null(pawl_db_query(db, PAWL_SQL_PG_NAP, &error, PAWL_ROW((PawlValue){.type = PAWL_TYPE_REAL, .d = 30})));
  assert_error(error, PAWL_ERROR_BUSY, "pg_nap");
  g_assert_cmpint(g_get_monotonic_time() - since, <, 5 * G_USEC_PER_SEC);
  g_assert_cmpint(read_one(db, PAWL_SQL_PG_WIDTHS, PAWL_NO_PARAMS), ==, -2);
  g_assert_cmpuint(generation(db), ==, 1);
  pawl_db_close(db);
}

static void test_lock_timeout(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *holder = open_made(server()), *db = open_short(0, 200);
  set(holder, "c", 1);
  begin(holder, PAWL_TX_WRITE);
  exec(holder, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("c"), PAWL_INT(1)));
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_ADD, NULL, &error, PAWL_ROW(pawl_text("c"), PAWL_INT(1))));
  assert_error(error, PAWL_ERROR_BUSY, "55P03");
  pawl_db_rollback(holder);
  exec(db, PAWL_SQL_COUNTER_ADD, PAWL_ROW(pawl_text("c"), PAWL_INT(1)));
  g_assert_cmpint(get(db, "c"), ==, 2);
  g_assert_cmpuint(generation(db), ==, 1);
  pawl_db_close(db);
  pawl_db_close(holder);
}

/* ---- errors and connections that end ---- */

/* A script that fails leaves the connection as good as it was. */
static void test_script_fails(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(server());
  begin(db, PAWL_TX_WRITE);
  g_assert_false(pawl_db_script(db, "SELECT 1; SELECT 1/0; SELECT 2", &error));
  assert_error(error, PAWL_ERROR_INTERNAL, "division by zero");
  pawl_db_rollback(db);
  set(db, "c", 1);
  g_assert_cmpint(get(db, "c"), ==, 1);
  g_assert_cmpuint(generation(db), ==, 1);
  pawl_db_close(db);
}

/* Nothing of the write was sent, so its outcome is no question. */
static void test_ended_while_idle(void) {
  PawlDb *db = open_made(server());
  for (gint64 i = 1; i <= 3; i++) {
    terminate(pawl_db_server(db)->pid);
    g_autofree char *name = g_strdup_printf("c%d", (int)i);
    set(db, name, i);
    g_assert_cmpint(get(db, name), ==, i);
    g_assert_cmpuint(generation(db), ==, (guint64)i + 1);
  }
  pawl_db_close(db);
}

static void test_ended_inside(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(server());
  begin(db, PAWL_TX_WRITE);
  set(db, "c", 1);
  terminate(pawl_db_server(db)->pid);
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_ADD, NULL, &error, PAWL_ROW(pawl_text("c"), PAWL_INT(1))));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE);
  pawl_db_rollback(db);
  set(db, "c", 5);
  g_assert_cmpint(get(db, "c"), ==, 5);
  pawl_db_close(db);
}

/* ---- the bell ---- */

static void test_bell(void) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_again(server());
  PawlBell *bell = pawl_bell_listen(db, &error);
  g_assert_no_error(error);
  struct pollfd fd = {.fd = pawl_bell_fd(bell), .events = POLLIN};
  g_usleep(500000); /* it listens */
  for (int i = 0; i < 5; i++) {
    pawl_db_ring(db);
    g_assert_cmpint(poll(&fd, 1, 1000), ==, 1);
    pawl_bell_drain(bell);
    g_assert_cmpint(poll(&fd, 1, 0), ==, 0);
  }
  pawl_bell_close(bell);
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/db/postgres/widths", test_widths);
  g_test_add_func("/db/postgres/arrays", test_arrays);
  g_test_add_func("/db/postgres/exec-many-arrays", test_exec_many_arrays);
  g_test_add_func("/db/postgres/exec-many-pipelined", test_exec_many_pipelined);
  g_test_add_func("/db/postgres/deadline", test_deadline);
  g_test_add_func("/db/postgres/lock-timeout", test_lock_timeout);
  g_test_add_func("/db/postgres/script-fails", test_script_fails);
  g_test_add_func("/db/postgres/ended-while-idle", test_ended_while_idle);
  g_test_add_func("/db/postgres/ended-inside", test_ended_inside);
  g_test_add_func("/db/postgres/bell", test_bell);
  return g_test_run();
}
