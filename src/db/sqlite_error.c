/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's result codes (sqlite.org/rescode.html) as pawl's errors: one table, the first row that fits counts, extended codes before the
 * code they belong to. SQLite's own messages name tables, columns and constraints but never a bound value, so they may be passed on. */
#include "base/error.h"
#include "db/sqlite_private.h"

#include <string.h>

typedef struct {
  int code;
  PawlError error;
  const char *fix; /* what the user can do; %s is the folder. NULL: nothing in general */
} ErrorRow;

static const ErrorRow error_rows[] = {
  {SQLITE_BUSY_SNAPSHOT, PAWL_ERROR_INTERNAL, NULL}, /* a read transaction that wants to write: pawl has none */
  {SQLITE_IOERR_NOMEM, PAWL_ERROR_UNAVAILABLE, "memory is short"},
  {SQLITE_IOERR_CORRUPTFS, PAWL_ERROR_INTERNAL, "the file system under %s is damaged: check it"},
  {SQLITE_READONLY_DBMOVED, PAWL_ERROR_UNAVAILABLE, "the store was moved or deleted while in use: start pawl anew"},
  {SQLITE_READONLY, PAWL_ERROR_UNAVAILABLE, "see that this user may write %s and that it is not mounted read-only"},
  {SQLITE_BUSY, PAWL_ERROR_BUSY, NULL},
  {SQLITE_LOCKED, PAWL_ERROR_BUSY, NULL},
  {SQLITE_FULL, PAWL_ERROR_UNAVAILABLE, "free some space in %s"},
  {SQLITE_IOERR, PAWL_ERROR_UNAVAILABLE, "look at the disk that holds %s"},
  {SQLITE_CANTOPEN, PAWL_ERROR_UNAVAILABLE, "see that this user may read and write %s"},
  {SQLITE_NOMEM, PAWL_ERROR_UNAVAILABLE, "memory is short"},
  {SQLITE_PERM, PAWL_ERROR_UNAVAILABLE, "see that this user may read and write %s"},
  {SQLITE_AUTH, PAWL_ERROR_UNAVAILABLE, NULL},
  {SQLITE_INTERRUPT, PAWL_ERROR_UNAVAILABLE, NULL},
  {SQLITE_CORRUPT, PAWL_ERROR_INTERNAL, "the store is damaged: stop pawl, keep a copy of the files, restore a backup"},
  {SQLITE_NOTADB, PAWL_ERROR_CONFIG, "it is no SQLite database: name another file"},
  {SQLITE_FORMAT, PAWL_ERROR_CONFIG, "it is no SQLite database: name another file"},
  {SQLITE_CONSTRAINT, PAWL_ERROR_CONFLICT, NULL},
  {SQLITE_TOOBIG, PAWL_ERROR_INTERNAL, NULL},
};

static const ErrorRow *row_of(int rc) {
  static const ErrorRow other = {SQLITE_ERROR, PAWL_ERROR_INTERNAL, NULL};
  for (gsize i = 0; i < G_N_ELEMENTS(error_rows); i++)
    if (error_rows[i].code == rc || error_rows[i].code == (rc & 0xff)) return &error_rows[i];
  return &other;
}

int pawl_sqlite_error_class(int rc) { return row_of(rc)->error; }

/* "free some space in /var/lib/pawl" */
static void append_fix(GString *message, const char *fix, const char *folder) {
  const char *mark = strstr(fix, "%s");
  g_string_append(message, "; ");
  if (mark == NULL) {
    g_string_append(message, fix);
    return;
  }
  g_string_append_len(message, fix, mark - fix);
  g_string_append(message, folder);
  g_string_append(message, mark + 2);
}

gboolean pawl_sqlite_fail(const PawlSqlite *db, int rc, const char *where, GError **error) {
  const ErrorRow *row = row_of(rc);
  g_autoptr(GString) message = g_string_new(where);
  g_string_append_printf(message, ": %s", db->handle != NULL ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc));
  int primary = rc & 0xff, cause = db->handle != NULL ? sqlite3_system_errno(db->handle) : 0;
  if ((primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL) && cause != 0)
    g_string_append_printf(message, " (%s)", g_strerror(cause));
  if (row->error == PAWL_ERROR_BUSY)
    g_string_append_printf(message, ": another process held %s for more than %" G_GINT64_FORMAT " ms", db->path, db->busy_ms);
  if (row->error == PAWL_ERROR_INTERNAL || primary == SQLITE_IOERR) g_string_append_printf(message, " [%d]", rc);
  if (row->fix != NULL) append_fix(message, row->fix, db->folder);
  g_set_error_literal(error, PAWL_ERROR, (gint)row->error, message->str);
  return FALSE;
}
