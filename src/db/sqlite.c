/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "db/sqlite_private.h"

#include <malloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log below this is not worth a checkpoint of its own: it is written over again and again anyway. */
#define LONG_LOG_BYTES (8 << 20)

void pawl_sqlite_close(PawlDb *base) {
  PawlSqlite *db = (PawlSqlite *)base;
  pawl_sqlite_end_rows(db);
  for (gsize i = 0; i < PAWL_SQL_COUNT; i++) sqlite3_finalize(db->statements[i].stmt);
  sqlite3_finalize(db->begin_read);
  sqlite3_finalize(db->begin_write);
  sqlite3_finalize(db->commit);
  sqlite3_finalize(db->rollback);
  pawl_sqlite_busy_start(db, FALSE);
  sqlite3_close(db->handle);
  pawl_sqlite_leave_line(db);
  pawl_line_unref(db->line);
  if (db->ring_fd >= 0) close(db->ring_fd);
  g_free(db->path);
  g_free(db->folder);
  g_free(db->base.url);
  g_free(db);
}

static int run_script_statement(PawlSqlite *db, const char *at, const char **ret_rest) {
  sqlite3_stmt *stmt;
  int rc = sqlite3_prepare_v2(db->handle, at, -1, &stmt, ret_rest);
  if (rc != SQLITE_OK || stmt == NULL) return rc; /* NULL: only blanks and comments were left */
  db->now_ms = 0;
  do rc = sqlite3_step(stmt);
  while (rc == SQLITE_ROW);
  int end = sqlite3_finalize(stmt);
  return rc == SQLITE_DONE ? SQLITE_OK : end;
}

static guint line_of(const char *script, const char *at) {
  guint line = 1;
  at += strspn(at, " \t\n");
  for (const char *p = script; p < at; p++) line += *p == '\n';
  return line;
}

static gboolean script(PawlDb *base, const char *text, GError **error) {
  PawlSqlite *db = (PawlSqlite *)base;
  pawl_sqlite_busy_start(db, TRUE);
  for (const char *at = text, *rest; *at != '\0'; at = rest) {
    int rc = run_script_statement(db, at, &rest);
    if (rc == SQLITE_OK && !sqlite3_get_autocommit(db->handle)) continue;
    g_autofree char *where = g_strdup_printf("the statement at line %u", line_of(text, at));
    if (rc != SQLITE_OK) return pawl_sqlite_fail(db, rc, where, error);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s ends the transaction", where);
    return FALSE;
  }
  return TRUE;
}

static gboolean log_is_long(const PawlSqlite *db) {
  g_autofree char *log = g_strconcat(db->path, "-wal", NULL);
  struct stat st;
  return stat(log, &st) == 0 && st.st_size > LONG_LOG_BYTES;
}

static void tidy(PawlDb *base) {
  PawlSqlite *db = (PawlSqlite *)base;
  pawl_sqlite_forget(db, db->runs_at_tidy);
  db->runs_at_tidy = db->runs;
  pawl_sqlite_busy_start(db, FALSE);
  if (base->mode == PAWL_DB_READ_WRITE && log_is_long(db) && pawl_sqlite_enter_line(db, "tidy", NULL)) {
    sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL); /* somebody reads or writes: next time */
    pawl_sqlite_leave_line(db);
  }
  sqlite3_db_release_memory(db->handle);
  malloc_trim(0);
}

static guint live_rows(const PawlDb *db) { return ((const PawlSqlite *)db)->n_live; }

const PawlDbEngine pawl_sqlite_engine = {
  .name = "sqlite",
  .open = pawl_sqlite_open,
  .close = pawl_sqlite_close,
  .migrations = pawl_sqlite_migrations,
  .exec = pawl_sqlite_exec,
  .query = pawl_sqlite_query,
  .step = pawl_sqlite_step,
  .finish = pawl_sqlite_finish,
  .column = pawl_sqlite_column,
  .begin = pawl_sqlite_begin,
  .commit = pawl_sqlite_commit,
  .rollback = pawl_sqlite_rollback,
  .live_rows = live_rows,
  .script = script,
  .bell_listen = pawl_sqlite_bell_listen,
  .bell_fd = pawl_sqlite_bell_fd,
  .bell_drain = pawl_sqlite_bell_drain,
  .bell_close = pawl_sqlite_bell_close,
  .ring = pawl_sqlite_ring,
  .hold = pawl_sqlite_hold,
  .hold_release = pawl_sqlite_hold_release,
  .holder = pawl_sqlite_holder,
  .tidy = tidy,
};
