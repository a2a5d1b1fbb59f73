/* SPDX-License-Identifier: Apache-2.0 */
/* Values go in and come out unchanged; what does not fit its declaration is refused. */
#include "test_db.h"

#include <math.h>

static const PawlId an_id = {{0, 1, 2, 0xff, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

static PawlValue real(double d) { return (PawlValue){.type = PAWL_TYPE_REAL, .d = d}; }

/* Sends one of each through SQLite and looks at what comes back. */
static void echo(PawlDb *db, PawlValue n, PawlValue t, PawlValue b, PawlValue r, PawlValue d, const char *types) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_ECHO, &error, PAWL_ROW(n, t, b, r, d));
  g_assert_no_error(error);
  g_assert_true(pawl_rows_next(rows, &error));
  g_assert_cmpstr(pawl_rows_text(rows, 5), ==, types);
  g_assert_cmpint(pawl_rows_int(rows, 0), ==, n.type == PAWL_TYPE_NULL ? 0 : n.i);
  g_assert_cmpstr(pawl_rows_text(rows, 1), ==, t.type == PAWL_TYPE_NULL ? NULL : t.p);
  gsize bytes = 99;
  const void *blob = pawl_rows_blob(rows, 2, &bytes);
  g_assert_true((blob == NULL) == (b.type == PAWL_TYPE_NULL));
  assert_bytes(blob, bytes, b.type == PAWL_TYPE_NULL ? NULL : b.p, b.type == PAWL_TYPE_NULL ? 0 : b.bytes);
  g_assert_true(pawl_rows_real(rows, 3) == (r.type == PAWL_TYPE_NULL ? 0 : r.d));
  PawlId id = pawl_rows_id(rows, 4);
  g_assert_true(pawl_id_equal(&id, d.type == PAWL_TYPE_NULL ? &PAWL_ID_NONE : d.p));
  const PawlValue *in[] = {&n, &t, &b, &r, &d};
  for (int i = 0; i < 5; i++) g_assert_true(pawl_rows_is_null(rows, i) == (in[i]->type == PAWL_TYPE_NULL));
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
}

static void test_round_trip(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  const char all[] = "integer text blob real blob";
  echo(db, PAWL_INT(1), pawl_text("a"), pawl_blob("\0\xff", 2), real(0.5), pawl_id(&an_id), all);
  echo(db, PAWL_INT(G_MAXINT64), pawl_text(""), pawl_blob("", 0), real(INFINITY), pawl_id(&PAWL_ID_NONE), all);
  echo(db, PAWL_INT(G_MININT64), pawl_text("\xff\xfe no UTF-8 \xc3"), pawl_blob(NULL, 0), real(-1e308), pawl_id(&an_id), all);
  echo(db, PAWL_INT(0), pawl_text("'; DROP TABLE kinds; --"), pawl_blob("x", 1), real(0), pawl_id(&an_id), all);
  echo(db, PAWL_NULL, PAWL_NULL, PAWL_NULL, PAWL_NULL, PAWL_NULL, "null null null null null");
  echo(db, pawl_int_or_null(0), pawl_text(NULL), PAWL_NULL, PAWL_NULL, pawl_id(NULL), "null null null null null");
  pawl_db_close(db);
}

static void test_stored(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  gsize big = 3 << 20;
  g_autofree char *blob = g_malloc(big);
  memset(blob, 0xa7, big);
  g_assert_cmpint(
    exec(db, PAWL_SQL_KINDS_ADD, PAWL_ROW(pawl_id(&an_id), PAWL_INT(G_MININT64), pawl_text("ä€"), pawl_blob(blob, big), real(1.25))), ==,
    1);
  pawl_db_close(db);
  db = open_again(place->url);
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_KINDS_GET, &error, PAWL_ROW(pawl_id(&an_id)));
  g_assert_true(pawl_rows_next(rows, &error));
  gsize bytes;
  g_assert_cmpint(pawl_rows_int(rows, 1), ==, G_MININT64);
  g_assert_cmpstr(pawl_rows_text(rows, 2), ==, "ä€");
  const void *stored = pawl_rows_blob(rows, 3, &bytes);
  assert_bytes(stored, bytes, blob, big);
  pawl_rows_close(rows);
  pawl_rows_close(rows); /* twice does no harm */
  pawl_db_close(db);
}

static void test_values_live_for_the_call(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  char *name = g_strdup("mine");
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text(name), PAWL_INT(7)));
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_COUNTER_GET, &error, PAWL_ROW(pawl_text(name)));
  memset(name, 'x', 4);
  g_free(name);
  g_assert_true(pawl_rows_next(rows, &error));
  g_assert_cmpint(pawl_rows_int(rows, 0), ==, 7);
  pawl_rows_close(rows);
  pawl_db_close(db);
}

static void test_many(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  PawlValue values[300];
  char names[100][8];
  gint64 changed[100];
  for (gsize i = 0; i < 100; i++) {
    g_snprintf(names[i], sizeof names[i], "c%02d", (int)i);
    values[2 * i] = pawl_text(names[i]);
    values[2 * i + 1] = PAWL_INT(i);
  }
  g_assert_true(pawl_db_exec_many(db, PAWL_SQL_COUNTER_SET, values, 2, 100, changed, &error));
  for (gsize i = 0; i < 100; i++) g_assert_cmpint(changed[i], ==, 1);
  values[2 * 5] = pawl_text("nobody");
  g_assert_true(pawl_db_exec_many(db, PAWL_SQL_COUNTER_ADD, values, 2, 100, changed, &error));
  for (gsize i = 0; i < 100; i++) g_assert_cmpint(changed[i], ==, i != 5);
  g_assert_cmpint(read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("c42"))), ==, 84);
  g_assert_true(pawl_db_exec_many(db, PAWL_SQL_COUNTER_ADD, NULL, 2, 0, NULL, &error));

  /* One bad row: none of them, and the output is left as it was. */
  g_assert_false(pawl_db_in_transaction(db));
  for (gsize i = 0; i < 100; i++) changed[i] = 77;
  values[2 * 5] = pawl_text("c05");
  values[2 * 99 + 1] = PAWL_INT(2000000);
  g_assert_false(pawl_db_exec_many(db, PAWL_SQL_COUNTER_ADD, values, 2, 100, changed, &error));
  assert_error(error, PAWL_ERROR_CONFLICT, "counter_add: CHECK constraint failed: counter_is_small");
  g_assert_cmpint(changed[0], ==, 77);
  g_assert_cmpint(read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("c42"))), ==, 84);
  pawl_db_close(db);
}

static void refuse(PawlDb *db, PawlSql sql, const char *says, const PawlValue *values, gsize n_values) {
  g_autoptr(GError) error = NULL;
  gint64 changed = 42;
  g_assert_false(pawl_db_exec(db, sql, &changed, &error, values, n_values));
  assert_error(error, PAWL_ERROR_INTERNAL, says);
  g_assert_cmpint(changed, ==, 42);
  g_clear_error(&error);
  g_assert_null(pawl_db_query(db, sql, &error, values, n_values));
  assert_error(error, PAWL_ERROR_INTERNAL, says);
}

static void test_parameters_are_checked(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  refuse(db, PAWL_SQL_COUNTER_SET, "counter_set: takes 2 parameters, got 1", PAWL_ROW(pawl_text("secret")));
  refuse(db, PAWL_SQL_COUNTER_SET, "takes 2 parameters, got 0", PAWL_NO_PARAMS);
  refuse(db, PAWL_SQL_COUNTER_SET, "parameter 1 (name) is text and got int", PAWL_ROW(PAWL_INT(1), PAWL_INT(1)));
  refuse(db, PAWL_SQL_COUNTER_SET, "parameter 2 (value) is int and got null", PAWL_ROW(pawl_text("secret"), PAWL_NULL));
  refuse(db, PAWL_SQL_COUNTER_SET, "parameter 2 (value) is int and got real", PAWL_ROW(pawl_text("secret"), real(1)));
  refuse(db, PAWL_SQL_KINDS_GET, "parameter 1 (id) is id and got blob", PAWL_ROW(pawl_blob(&an_id, 16)));
  refuse(db, PAWL_SQL_STEP_ADD, "parameter 3 (bytes) is blob", PAWL_ROW(PAWL_INT(1), PAWL_INT(1), pawl_blob(NULL, 3)));
  refuse(db, (PawlSql)PAWL_SQL_COUNT, "there is no statement", PAWL_NO_PARAMS);
  g_assert_cmpint(exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("fine"), PAWL_INT(1))), ==, 1);
  pawl_db_close(db);
}

static void row_fails(PawlDb *db, PawlSql sql, int good_rows, const char *says) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(db, sql, &error, PAWL_NO_PARAMS);
  for (int i = 0; rows != NULL && i < good_rows; i++) g_assert_true(pawl_rows_next(rows, &error));
  if (rows != NULL) g_assert_false(pawl_rows_next(rows, &error));
  assert_error(error, PAWL_ERROR_INTERNAL, says);
}

static void test_columns_are_checked(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  row_fails(db, PAWL_SQL_WRONG_COLUMN, 1, "wrong_column: column 1 (n) is declared int and holds text");
  row_fails(db, PAWL_SQL_NULL_COLUMN, 0, "null_column: column 1 (most) is declared int and holds null");
  row_fails(db, PAWL_SQL_SHORT_ID, 0, "short_id: column 1 (id) is declared id and holds blob");
  row_fails(db, PAWL_SQL_WRONG_COUNT, 0, "wrong_count: its file declares another number of columns");
  pawl_db_close(db);
}

static void test_wrong_accessor(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_made(place->url);
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("c"), PAWL_INT(7)));
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_COUNTER_GET, &error, PAWL_ROW(pawl_text("c")));
  g_assert_true(pawl_rows_next(rows, &error));
  g_test_expect_message(G_LOG_DOMAIN, G_LOG_LEVEL_CRITICAL, "*assertion*failed*");
  g_assert_null(pawl_rows_text(rows, 0));
  g_test_expect_message(G_LOG_DOMAIN, G_LOG_LEVEL_CRITICAL, "*assertion*failed*");
  g_assert_cmpint(pawl_rows_int(rows, 1), ==, 0);
  g_test_assert_expected_messages();
  pawl_rows_close(rows);
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/types/" name, Place, NULL, place_make, function, place_drop)
  ADD("round-trip", test_round_trip);
  ADD("stored", test_stored);
  ADD("values-live-for-the-call", test_values_live_for_the_call);
  ADD("many", test_many);
  ADD("parameters-are-checked", test_parameters_are_checked);
  ADD("columns-are-checked", test_columns_are_checked);
  ADD("wrong-accessor", test_wrong_accessor);
  return g_test_run();
}
