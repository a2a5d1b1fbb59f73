/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the SQLite engine share.
 *
 *   sqlite_path.c       URL and file system: what may be a store, and where it lies
 *   sqlite_open.c       opening, settings, whose store it is
 *   sqlite.c            the engine's table; closing, scripts, upkeep
 *   sqlite_statement.c  the cache of prepared statements, running them, rows
 *   sqlite_tx.c         transactions, and what a failed COMMIT means
 *   sqlite_line.c       the fair line of this process's writers
 *   sqlite_busy.c       waiting for other processes
 *   sqlite_error.c      SQLite's codes as pawl's errors
 *   sqlite_bell.c       wake-ups
 *   sqlite_hold.c       one scheduler per store */
#pragma once
#include "db/db_private.h"

#include <sqlite3.h>
#include <sys/types.h>

#define PAWL_SQLITE_APPLICATION_ID 0x5041574c /* "PAWL" */

typedef struct PawlLine PawlLine;

typedef struct {
  PawlRows rows;
  sqlite3_stmt *stmt;      /* NULL: not prepared */
  const PawlValue *values; /* of an open cursor over several rows of values */
  gsize n_values, n_rows;
  guint used;    /* the connection's count of runs when this one ran last */
  gint64 now_ms; /* of an open cursor: its pawl_now_ms() */
  gboolean live; /* of an open cursor: not at its end, so it holds a snapshot */
} PawlSqliteStatement;

typedef struct {
  PawlDb base;
  sqlite3 *handle;
  char *path, *folder; /* absolute, links resolved */
  PawlLine *line;
  gboolean in_line;
  gint64 busy_ms, busy_until_us; /* the second: on g_get_monotonic_time() */
  guint64 busy_jitter;
  gint64 now_ms; /* what pawl_now_ms() answers within the running statement; 0: not asked yet */
  int ring_fd;   /* -1: none */
  guint n_open, n_live, n_prepared, runs, runs_at_tidy;
  sqlite3_stmt *begin_read, *begin_write, *commit, *rollback;
  PawlSqliteStatement statements[PAWL_SQL_COUNT];
} PawlSqlite;

/* ---- sqlite_path.c ---- */
typedef struct {
  char *path, *folder;
  gboolean made;
} PawlSqlitePlace;
/* Finds, checks and, where `options` allow, creates the file and its folder. `made`: the file is new. Caller clears the place. */
gboolean pawl_sqlite_place(const PawlDbOptions *options, PawlSqlitePlace *ret_place, GError **error);
void pawl_sqlite_place_clear(PawlSqlitePlace *place);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PawlSqlitePlace, pawl_sqlite_place_clear)
/* What root makes beside another user's store belongs to that user, as SQLite does it with its own files. */
void pawl_sqlite_give_to_owner(const char *store, int fd);
/* The name of a network file system by statfs's f_type, NULL when it is none. */
const char *pawl_sqlite_network_fs(guint64 f_type);
/* The same for the type words of /proc/self/mountinfo, "fuse.sshfs". */
gboolean pawl_sqlite_network_fs_word(const char *type);

/* ---- sqlite_open.c ---- */
PawlDb *pawl_sqlite_open(const PawlDbOptions *options, GError **error);

/* ---- sqlite.c ---- */
void pawl_sqlite_close(PawlDb *db);

/* ---- sqlite_error.c ---- */
/* Always FALSE. `where` is the statement's name or what was tried; `handle` may be NULL, else it holds the message of `rc`. */
gboolean pawl_sqlite_fail(const PawlSqlite *db, int rc, const char *where, GError **error);
int pawl_sqlite_error_class(int rc); /* a PawlError */

/* ---- sqlite_busy.c ---- */
/* From here on waits for other processes end after busy_ms; with `wait` FALSE they do not begin. */
void pawl_sqlite_busy_start(PawlSqlite *db, gboolean wait);
int pawl_sqlite_busy(void *db, int n_calls); /* sqlite3_busy_handler's callback */
/* One pause of the handler, for calls that SQLite fails without asking it. FALSE: the time is over. */
gboolean pawl_sqlite_busy_pause(PawlSqlite *db, int n_calls);

/* ---- sqlite_line.c ---- */
/* The line of the file's writers; both ends are counted. */
PawlLine *pawl_line_of(dev_t device, ino_t inode);
void pawl_line_unref(PawlLine *line);
/* First come, first served. FALSE: not one's turn by `until_us` (g_get_monotonic_time()). */
gboolean pawl_line_enter(PawlLine *line, gint64 until_us);
void pawl_line_leave(PawlLine *line);
/* How many had to wait so far. */
guint pawl_line_queued(PawlLine *line);

/* ---- sqlite_statement.c ---- */
gboolean pawl_sqlite_exec(
  PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error);
PawlRows *pawl_sqlite_query(PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, GError **error);
PawlStep pawl_sqlite_step(PawlRows *rows, GError **error);
void pawl_sqlite_finish(PawlRows *rows);
void pawl_sqlite_column(PawlRows *rows, int column, PawlValue *ret_value);
/* Ends all open cursors. */
void pawl_sqlite_end_rows(PawlSqlite *db);
/* Frees the prepared statements that are not open and did not run after the connection's run `since`. */
void pawl_sqlite_forget(PawlSqlite *db, guint since);

/* ---- sqlite_tx.c ---- */
gboolean pawl_sqlite_begin(PawlDb *db, PawlTx kind, GError **error);
gboolean pawl_sqlite_commit(PawlDb *db, GError **error);
void pawl_sqlite_rollback(PawlDb *db);
/* Takes the place in line; BUSY when it is not reached in time. */
gboolean pawl_sqlite_enter_line(PawlSqlite *db, const char *where, GError **error);
void pawl_sqlite_leave_line(PawlSqlite *db);
/* What it means that a write with a COMMIT in it failed with `rc`: turns *error (set) into AMBIGUOUS where it is. Nothing is open
 * afterwards. */
void pawl_sqlite_commit_failed(PawlSqlite *db, int rc, GError **error);

/* ---- sqlite_bell.c, sqlite_hold.c ---- */
PawlBell *pawl_sqlite_bell_listen(const PawlDb *db, GError **error);
int pawl_sqlite_bell_fd(const PawlBell *bell);
void pawl_sqlite_bell_drain(PawlBell *bell);
void pawl_sqlite_bell_close(PawlBell *bell);
void pawl_sqlite_ring(PawlDb *db);
PawlHold *pawl_sqlite_hold(const PawlDb *db, GError **error);
void pawl_sqlite_hold_release(PawlHold *hold);
gint64 pawl_sqlite_holder(const PawlDb *db);
