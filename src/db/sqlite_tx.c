/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, and what it means when a COMMIT fails.
 *
 * In WAL mode with synchronous=FULL a COMMIT writes its pages as frames behind the log's end, the last one marked as a commit, syncs the
 * log, and only then moves the log's end in the shared index (sqlite.org/walformat.html). So:
 *   FULL: a write was cut short. Frames carry checksums that run on from frame to frame, so one that is cut off is none; not committed.
 *   IOERR, NOMEM (a failed sync, a failed write, no memory for the index): the commit frame may stand complete in the log, past its end. Nobody sees
 *     it now, and SQLite goes on as if it was not there; but if every process died now, or the power failed, the next opening would rebuild the
 *     index from the log, find that frame and bring the transaction back. So far it is ambiguous.
 *   anything else (BUSY, a constraint, read-only, damage): it failed before it wrote; it is not committed.
 * The second case is settled here at once: another small transaction is committed, whose frame lies where the failed one began. Once that
 * is synced, the failed frames are overwritten or do not join on any more, and the failed COMMIT is definitely not committed. Only when
 * this fails too (the disk is gone) is AMBIGUOUS reported. The power-cut tests prove both. */
#include "base/error.h"
#include "base/fault.h"
#include "db/sqlite_private.h"

static int run(PawlSqlite *db, sqlite3_stmt *stmt) {
  int rc = sqlite3_step(stmt);
  sqlite3_reset(stmt);
  return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static gboolean not_our_turn(const PawlSqlite *db, const char *where, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_BUSY, "%s: other threads of this process wrote to %s for more than %" G_GINT64_FORMAT " ms",
    where, db->path, db->busy_ms);
  return FALSE;
}

/* In WAL mode SQLite would go on writing to a file that was moved, deleted or replaced meanwhile, and who opens the store next would find
 * nothing of it. */
static gboolean has_moved(PawlSqlite *db) {
  int moved = 0;
  return sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

gboolean pawl_sqlite_enter_line(PawlSqlite *db, const char *where, GError **error) {
  if (db->in_line) return TRUE;
  if (!pawl_line_enter(db->line, db->busy_until_us)) return not_our_turn(db, where, error);
  db->in_line = TRUE;
  if (!has_moved(db)) return TRUE;
  pawl_sqlite_leave_line(db);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s: the store %s was moved, deleted or replaced while in use; start pawl anew",
    where, db->path);
  return FALSE;
}

void pawl_sqlite_leave_line(PawlSqlite *db) {
  if (!db->in_line) return;
  db->in_line = FALSE;
  pawl_line_leave(db->line);
}

gboolean pawl_sqlite_begin(PawlDb *base, PawlTx kind, GError **error) {
  PawlSqlite *db = (PawlSqlite *)base;
  pawl_sqlite_busy_start(db, TRUE);
  if (kind != PAWL_TX_READ && !pawl_sqlite_enter_line(db, "begin", error)) return FALSE;
  int rc = run(db, kind != PAWL_TX_READ ? db->begin_write : db->begin_read);
  if (rc == SQLITE_OK) return TRUE;
  pawl_sqlite_leave_line(db);
  return pawl_sqlite_fail(db, rc, "begin", error);
}

static void roll_back(PawlSqlite *db) {
  pawl_sqlite_end_rows(db);
  /* Some errors (disk full, I/O) have rolled it back already. */
  if (!sqlite3_get_autocommit(db->handle)) run(db, db->rollback);
}

void pawl_sqlite_rollback(PawlDb *base) {
  PawlSqlite *db = (PawlSqlite *)base;
  roll_back(db);
  pawl_sqlite_leave_line(db);
}

/* Writes the header page as it is: a transaction that changes nothing and takes the place of failed frames in the log. */
static gboolean settle(PawlSqlite *db) {
  g_autofree char *same = g_strdup_printf("PRAGMA application_id = %d", PAWL_SQLITE_APPLICATION_ID);
  pawl_sqlite_busy_start(db, TRUE);
  if (run(db, db->begin_write) != SQLITE_OK) return FALSE;
  gboolean settled = sqlite3_exec(db->handle, same, NULL, NULL, NULL) == SQLITE_OK && run(db, db->commit) == SQLITE_OK;
  if (!settled && !sqlite3_get_autocommit(db->handle)) run(db, db->rollback);
  return settled;
}

/* Whether the failed COMMIT can have left a complete commit frame behind. */
static gboolean in_doubt(int rc) { return (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_NOMEM; }

void pawl_sqlite_commit_failed(PawlSqlite *db, int rc, GError **error) {
  roll_back(db);
  if (!db->in_line || !in_doubt(rc) || settle(db)) return;
  (*error)->code = PAWL_ERROR_AMBIGUOUS;
  g_prefix_error(error, "it is not known whether this was stored: ");
}

gboolean pawl_sqlite_commit(PawlDb *base, GError **error) {
  PawlSqlite *db = (PawlSqlite *)base;
  PAWL_FAULT("db.before_commit");
  pawl_sqlite_busy_start(db, TRUE);
  int rc = run(db, db->commit);
  for (int n = 0; (rc & 0xff) == SQLITE_BUSY && !sqlite3_get_autocommit(db->handle) && pawl_sqlite_busy_pause(db, n); n++)
    rc = run(db, db->commit);
  if (rc != SQLITE_OK) {
    GError *why = NULL;
    pawl_sqlite_fail(db, rc, "commit", &why);
    pawl_sqlite_commit_failed(db, rc, &why);
    g_propagate_error(error, why);
  }
  PAWL_FAULT("db.after_commit");
  pawl_sqlite_leave_line(db);
  return rc == SQLITE_OK;
}
