/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared statements: made at first use, kept, and bounded in number, because each holds some kilobytes. A cursor lives in its
 * statement's entry, which is why a statement can be open once. */
#include "base/error.h"
#include "db/sqlite_private.h"

#include <string.h>

#define MOST_PREPARED 64

static gboolean bug(PawlSql sql, const char *what, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: %s", pawl_sql_info[sql].name, what);
  return FALSE;
}

static void drop(PawlSqlite *db, PawlSqliteStatement *statement) {
  sqlite3_finalize(statement->stmt);
  statement->stmt = NULL;
  db->n_prepared--;
}

void pawl_sqlite_forget(PawlSqlite *db, guint since) {
  for (gsize i = 0; i < PAWL_SQL_COUNT; i++) {
    PawlSqliteStatement *s = &db->statements[i];
    if (s->stmt != NULL && !s->rows.open && (gint)(s->used - since) <= 0) drop(db, s);
  }
}

static void drop_oldest(PawlSqlite *db) {
  PawlSqliteStatement *oldest = NULL;
  for (gsize i = 0; i < PAWL_SQL_COUNT; i++) {
    PawlSqliteStatement *s = &db->statements[i];
    if (s->stmt != NULL && !s->rows.open && (oldest == NULL || (gint)(s->used - oldest->used) < 0)) oldest = s;
  }
  if (oldest != NULL) drop(db, oldest);
}

/* NULL with *error set when it cannot run now. */
static PawlSqliteStatement *prepare(PawlSqlite *db, PawlSql sql, GError **error) {
  PawlSqliteStatement *s = &db->statements[sql];
  const PawlSqlInfo *info = &pawl_sql_info[sql];
  pawl_sqlite_busy_start(db, TRUE);
  if (s->rows.open) {
    bug(sql, "it is open already", error);
    return NULL;
  }
  if (pawl_sqlite_sql[sql] == NULL) {
    bug(sql, "SQLite has no such statement", error);
    return NULL;
  }
  if (s->stmt == NULL) {
    if (db->n_prepared >= MOST_PREPARED) drop_oldest(db);
    int rc = sqlite3_prepare_v3(db->handle, pawl_sqlite_sql[sql], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
    if (rc != SQLITE_OK) {
      pawl_sqlite_fail(db, rc, info->name, error);
      return NULL;
    }
    db->n_prepared++;
    if ((gsize)sqlite3_column_count(s->stmt) != strlen(info->columns)) {
      drop(db, s);
      bug(sql, "its file declares another number of columns", error);
      return NULL;
    }
  }
  if (db->base.in_tx && db->base.kind == PAWL_TX_READ && !sqlite3_stmt_readonly(s->stmt)) {
    bug(sql, "it writes, and the transaction is for reading", error);
    return NULL;
  }
  s->used = ++db->runs;
  return s;
}

static int bind(sqlite3_stmt *stmt, int at, const PawlValue *value, sqlite3_destructor_type life) {
  switch (value->type) {
  case PAWL_TYPE_NULL: return sqlite3_bind_null(stmt, at);
  case PAWL_TYPE_INT: return sqlite3_bind_int64(stmt, at, value->i);
  case PAWL_TYPE_TEXT: return sqlite3_bind_text64(stmt, at, value->p, strlen(value->p), life, SQLITE_UTF8);
  case PAWL_TYPE_ID: return sqlite3_bind_blob64(stmt, at, value->p, PAWL_ID_BYTES, life);
  case PAWL_TYPE_BLOB: return sqlite3_bind_blob64(stmt, at, value->bytes > 0 ? value->p : "", value->bytes, life);
  case PAWL_TYPE_REAL: return sqlite3_bind_double(stmt, at, value->d);
  }
  return SQLITE_MISUSE;
}

static int bind_all(sqlite3_stmt *stmt, const PawlValue *values, gsize n_values, sqlite3_destructor_type life) {
  int rc = SQLITE_OK;
  for (gsize i = 0; rc == SQLITE_OK && i < n_values; i++) rc = bind(stmt, (int)i + 1, &values[i], life);
  return rc;
}

/* Runs it to its end; nothing stays bound. */
static int run(PawlSqlite *db, PawlSqliteStatement *s, const PawlValue *values, gsize n_values, gint64 *ret_changed) {
  int rc = bind_all(s->stmt, values, n_values, SQLITE_STATIC);
  db->now_ms = 0;
  if (rc == SQLITE_OK) do
      rc = sqlite3_step(s->stmt);
    while (rc == SQLITE_ROW);
  if (rc == SQLITE_DONE) {
    rc = SQLITE_OK;
    if (ret_changed != NULL) *ret_changed = sqlite3_stmt_readonly(s->stmt) ? 0 : sqlite3_changes64(db->handle);
  }
  return rc;
}

static void rest(PawlSqliteStatement *s) {
  sqlite3_reset(s->stmt);
  sqlite3_clear_bindings(s->stmt);
}

static gboolean run_rows(
  PawlSqlite *db, PawlSqliteStatement *s, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error) {
  const char *name = pawl_sql_info[s - db->statements].name;
  int rc = SQLITE_OK;
  for (gsize i = 0; rc == SQLITE_OK && i < n_rows; i++) {
    rc = run(db, s, values + i * n_values, n_values, ret_changed != NULL ? &ret_changed[i] : NULL);
    if (rc != SQLITE_OK) pawl_sqlite_fail(db, rc, name, error);
    sqlite3_reset(s->stmt);
  }
  rest(s);
  return rc == SQLITE_OK;
}

/* One write outside a transaction: SQLite commits it within the step, so a failure is judged as a failed COMMIT. */
static gboolean run_alone(
  PawlSqlite *db, PawlSqliteStatement *s, const PawlValue *values, gsize n_values, gint64 *ret_changed, GError **error) {
  const char *name = pawl_sql_info[s - db->statements].name;
  if (!pawl_sqlite_enter_line(db, name, error)) return FALSE;
  GError *why = NULL;
  int rc = run(db, s, values, n_values, ret_changed);
  if (rc != SQLITE_OK) pawl_sqlite_fail(db, rc, name, &why);
  rest(s);
  if (rc != SQLITE_OK) pawl_sqlite_commit_failed(db, rc, &why);
  pawl_sqlite_leave_line(db);
  if (why != NULL) g_propagate_error(error, why);
  return rc == SQLITE_OK;
}

gboolean pawl_sqlite_exec(
  PawlDb *base, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error) {
  PawlSqlite *db = (PawlSqlite *)base;
  PawlSqliteStatement *s = prepare(db, sql, error);
  if (s == NULL) return FALSE;
  gboolean writes = !sqlite3_stmt_readonly(s->stmt);
  if (base->in_tx || (n_rows == 1 && !writes)) return run_rows(db, s, values, n_values, n_rows, ret_changed, error);
  /* The cursor's snapshot may be old by now, and SQLite refuses to write on top of an old one: an error that would come and go. */
  if (writes && db->n_live > 0) return bug(sql, "a cursor is open; close it, or begin a transaction before it", error);
  if (n_rows == 1) return run_alone(db, s, values, n_values, ret_changed, error);
  if (!pawl_sqlite_begin(base, writes ? PAWL_TX_WRITE : PAWL_TX_READ, error)) return FALSE;
  if (run_rows(db, s, values, n_values, n_rows, ret_changed, error)) return pawl_sqlite_commit(base, error);
  pawl_sqlite_rollback(base);
  return FALSE;
}

PawlRows *pawl_sqlite_query(PawlDb *base, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, GError **error) {
  PawlSqlite *db = (PawlSqlite *)base;
  PawlSqliteStatement *s = prepare(db, sql, error);
  if (s == NULL) return NULL;
  if (!base->in_tx && !sqlite3_stmt_readonly(s->stmt)) { /* its COMMIT would come with the cursor's end, where no error is reported */
    bug(sql, "a statement that writes and returns rows needs a transaction", error);
    return NULL;
  }
  int rc = n_rows > 0 ? bind_all(s->stmt, values, n_values, n_rows == 1 ? SQLITE_TRANSIENT : SQLITE_STATIC) : SQLITE_OK;
  if (rc != SQLITE_OK) {
    pawl_sqlite_fail(db, rc, pawl_sql_info[sql].name, error);
    rest(s);
    return NULL;
  }
  s->rows = (PawlRows){.db = base, .sql = sql, .open = TRUE};
  s->values = values;
  s->n_values = n_values;
  s->n_rows = n_rows;
  s->now_ms = 0;
  s->live = TRUE;
  db->n_open++;
  db->n_live++;
  return &s->rows;
}

/* Its snapshot ends. */
static void stop(PawlSqlite *db, PawlSqliteStatement *s) {
  sqlite3_reset(s->stmt);
  if (s->live) db->n_live--;
  s->live = FALSE;
}

static PawlSqliteStatement *statement_of(PawlRows *rows) { return &((PawlSqlite *)rows->db)->statements[rows->sql]; }

PawlStep pawl_sqlite_step(PawlRows *rows, GError **error) {
  PawlSqlite *db = (PawlSqlite *)rows->db;
  PawlSqliteStatement *s = statement_of(rows);
  pawl_sqlite_busy_start(db, TRUE);
  db->now_ms = s->now_ms;
  int rc = s->n_rows > 0 ? sqlite3_step(s->stmt) : SQLITE_DONE;
  while (rc == SQLITE_DONE && rows->index + 1 < s->n_rows) {
    sqlite3_reset(s->stmt);
    rows->index++;
    rc = bind_all(s->stmt, s->values + rows->index * s->n_values, s->n_values, SQLITE_STATIC);
    if (rc == SQLITE_OK) rc = sqlite3_step(s->stmt);
  }
  s->now_ms = db->now_ms;
  if (rc == SQLITE_ROW) return PAWL_STEP_ROW;
  if (rc != SQLITE_DONE) pawl_sqlite_fail(db, rc, pawl_sql_info[rows->sql].name, error);
  stop(db, s); /* at once, not when the caller comes to close it */
  return rc == SQLITE_DONE ? PAWL_STEP_END : PAWL_STEP_FAILED;
}

void pawl_sqlite_finish(PawlRows *rows) {
  PawlSqlite *db = (PawlSqlite *)rows->db;
  PawlSqliteStatement *s = statement_of(rows);
  stop(db, s);
  sqlite3_clear_bindings(s->stmt);
  rows->open = rows->on_row = FALSE;
  rows->ended = TRUE;
  db->n_open--;
}

void pawl_sqlite_end_rows(PawlSqlite *db) {
  if (db->n_open == 0) return;
  for (gsize i = 0; i < PAWL_SQL_COUNT; i++)
    if (db->statements[i].rows.open) pawl_sqlite_finish(&db->statements[i].rows);
}

void pawl_sqlite_column(PawlRows *rows, int column, PawlValue *ret_value) {
  sqlite3_stmt *stmt = statement_of(rows)->stmt;
  switch (sqlite3_column_type(stmt, column)) {
  case SQLITE_INTEGER: *ret_value = PAWL_INT(sqlite3_column_int64(stmt, column)); break;
  case SQLITE_FLOAT: *ret_value = (PawlValue){.type = PAWL_TYPE_REAL, .d = sqlite3_column_double(stmt, column)}; break;
  case SQLITE_TEXT: *ret_value = pawl_text((const char *)sqlite3_column_text(stmt, column)); break;
  case SQLITE_BLOB: {
    const void *bytes = sqlite3_column_blob(stmt, column); /* NULL for no bytes */
    *ret_value = pawl_blob(bytes != NULL ? bytes : "", (gsize)sqlite3_column_bytes(stmt, column));
    break;
  }
  default: *ret_value = PAWL_NULL; break;
  }
}
