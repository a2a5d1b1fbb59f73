/* SPDX-License-Identifier: Apache-2.0 */
/* Every statement of the real table, on a store that has just been migrated. */
#include "db/sqlite_private.h"
#include "test_db.h"

static void test_prepare_all(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  sqlite3 *handle = ((PawlSqlite *)db)->handle;
  int bytes = 0;
  for (int sql = 0; sql < PAWL_SQL_COUNT; sql++) {
    const PawlSqlInfo *info = &pawl_sql_info[sql];
    sqlite3_stmt *stmt = NULL;
    if (pawl_sqlite_sql[sql] == NULL) continue; /* PostgreSQL's only */
    if (sqlite3_prepare_v2(handle, pawl_sqlite_sql[sql], -1, &stmt, NULL) != SQLITE_OK) {
      g_test_message("%s: %s", info->name, sqlite3_errmsg(handle));
      g_test_fail();
      continue;
    }
    if ((gsize)sqlite3_column_count(stmt) != strlen(info->columns) || (gsize)sqlite3_bind_parameter_count(stmt) != strlen(info->params)) {
      g_test_message("%s: declares %d columns and %d parameters, has %d and %d", info->name, (int)strlen(info->columns),
        (int)strlen(info->params), sqlite3_column_count(stmt), sqlite3_bind_parameter_count(stmt));
      g_test_fail();
    }
    bytes += sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_MEMUSED, 0);
    sqlite3_finalize(stmt);
  }
  g_test_message("%d statements, %d KiB when all are prepared", PAWL_SQL_COUNT, bytes / 1024);
  pawl_db_close(db);
}

static PawlValue some_value(char type) {
  static const PawlId id = {{7, 7, 7}};
  switch (g_ascii_tolower(type)) {
  case 'i': return PAWL_INT(1);
  case 't': return pawl_text("{}");
  case 'd': return pawl_id(&id);
  case 'b': return pawl_blob("{}", 2);
  default: return (PawlValue){.type = PAWL_TYPE_REAL, .d = 1};
  }
}

/* Runs each with any values on the empty schema. A constraint may say no; a column that is null or of another type than declared may not be. */
static void test_run_all(Place *place, gconstpointer data) {
  PawlDb *db = open_made(place->url);
  for (int sql = 0; sql < PAWL_SQL_COUNT; sql++) {
    g_autoptr(GError) error = NULL;
    PawlValue values[64];
    if (pawl_sqlite_sql[sql] == NULL) continue;
    gsize n = strlen(pawl_sql_info[sql].params);
    g_assert_cmpint(n, <=, G_N_ELEMENTS(values));
    for (gsize i = 0; i < n; i++) values[i] = some_value(pawl_sql_info[sql].params[i]);
    begin(db, PAWL_TX_WRITE);
    PawlRows *rows = pawl_db_query(db, (PawlSql)sql, &error, values, n);
    while (rows != NULL && pawl_rows_next(rows, &error)) continue;
    pawl_rows_close(rows);
    pawl_db_rollback(db);
    if (error == NULL || g_error_matches(error, PAWL_ERROR, PAWL_ERROR_CONFLICT)) continue;
    g_test_message("%s", error->message);
    g_test_fail();
  }
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/db/statements/prepare-all", Place, NULL, place_make, test_prepare_all, place_drop);
  g_test_add("/db/statements/run-all", Place, NULL, place_make, test_run_all, place_drop);
  return g_test_run();
}
