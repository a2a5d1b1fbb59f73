/* SPDX-License-Identifier: Apache-2.0 */
/* Opening. Settings of the file (WAL, the application id) are made once and then only checked; settings of the connection are made each
 * time, because SQLite's defaults differ between builds. Nothing is written into a database before it is known to be ours or empty. */
#include "base/clock.h"
#include "base/error.h"
#include "db/sqlite_private.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BUSY_MS 5000
#define DEFAULT_CACHE_KIB 512

static const char *const settings = "PRAGMA trusted_schema = OFF;" /* no functions with side effects from views or triggers */
                                    "PRAGMA cell_size_check = ON;" /* damage is found when a page is read */
                                    "PRAGMA temp_store = MEMORY;"
                                    "PRAGMA mmap_size = 0;" /* an I/O error stays an error instead of SIGBUS */
                                    "PRAGMA foreign_keys = ON;"
                                    "PRAGMA secure_delete = FAST;" /* what is deleted is overwritten where that costs no I/O */
                                    "PRAGMA synchronous = FULL;"   /* a COMMIT that returned is on the disk */
                                    "PRAGMA wal_autocheckpoint = 1000;"
                                    "PRAGMA journal_size_limit = 8388608;"; /* after a burst the log shrinks back to this */

static void configure_library(void) {
  /* Saves a lock around each allocation. It fails when somebody used the library before, which does no harm. */
  (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  (void)sqlite3_initialize();
}

/* The one clock of SQL. It stands still while one statement runs, so that a statement sees one now. */
static void sql_now_ms(sqlite3_context *context, int n_args, sqlite3_value **args) {
  PawlSqlite *db = sqlite3_user_data(context);
  if (db->now_ms == 0) db->now_ms = pawl_clock_wall_ms();
  sqlite3_result_int64(context, db->now_ms);
}

static int read_int(PawlSqlite *db, const char *pragma, gint64 *ret_value) {
  sqlite3_stmt *stmt;
  int rc = sqlite3_prepare_v2(db->handle, pragma, -1, &stmt, NULL);
  if (rc != SQLITE_OK) return rc;
  rc = sqlite3_step(stmt);
  if (rc == SQLITE_ROW) *ret_value = sqlite3_column_int64(stmt, 0);
  int end = sqlite3_finalize(stmt);
  return rc == SQLITE_ROW ? SQLITE_OK : end;
}

static gboolean opening(PawlSqlite *db, int rc, GError **error) {
  if (rc == SQLITE_OK) return TRUE;
  g_autofree char *where = g_strdup_printf("the store %s cannot be opened", db->path);
  return pawl_sqlite_fail(db, rc, where, error);
}

static gboolean use_wal(PawlSqlite *db, GError **error) {
  for (int n = 0;; n++) {
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
    if (rc != SQLITE_OK) return opening(db, rc, error);
    rc = sqlite3_step(stmt);
    gboolean wal = rc == SQLITE_ROW && g_strcmp0((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
    rc = sqlite3_finalize(stmt);
    if (wal) return TRUE;
    /* The switch needs the file alone, and SQLite does not ask the busy handler about that. */
    if ((rc & 0xff) == SQLITE_BUSY && pawl_sqlite_busy_pause(db, n)) continue;
    if (rc != SQLITE_OK) return opening(db, rc, error);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
      "the store cannot be %s: its file system has no shared memory, which SQLite's log needs", db->path);
    return FALSE;
  }
}

typedef enum { OWNER_PAWL, OWNER_NOBODY, OWNER_OTHER } Owner;

static int read_owner(PawlSqlite *db, Owner *ret_owner, gint64 *ret_id) {
  gint64 id = 0, schema = 0;
  int rc = read_int(db, "PRAGMA application_id", &id);
  if (rc == SQLITE_OK) rc = read_int(db, "PRAGMA schema_version", &schema);
  *ret_owner = id == PAWL_SQLITE_APPLICATION_ID ? OWNER_PAWL : id == 0 && schema == 0 ? OWNER_NOBODY : OWNER_OTHER;
  *ret_id = id;
  return rc;
}

/* Writes our mark into an empty database, unless somebody else did so meanwhile. */
static int claim(PawlSqlite *db) {
  Owner owner = OWNER_OTHER;
  gint64 id;
  g_autofree char *mark = g_strdup_printf("PRAGMA application_id = %d", PAWL_SQLITE_APPLICATION_ID);
  int rc = sqlite3_exec(db->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc != SQLITE_OK) return rc;
  rc = read_owner(db, &owner, &id);
  if (rc == SQLITE_OK && owner == OWNER_NOBODY) rc = sqlite3_exec(db->handle, mark, NULL, NULL, NULL);
  if (rc == SQLITE_OK) rc = sqlite3_exec(db->handle, "COMMIT", NULL, NULL, NULL);
  return rc; /* the caller closes the connection, which rolls back */
}

static gboolean check_owner(PawlSqlite *db, gboolean create, GError **error) {
  Owner owner;
  gint64 id;
  if (!opening(db, read_owner(db, &owner, &id), error)) return FALSE;
  if (owner == OWNER_NOBODY && create) {
    if (!use_wal(db, error) || !opening(db, claim(db), error) || !opening(db, read_owner(db, &owner, &id), error)) return FALSE;
  }
  if (owner == OWNER_PAWL) return db->base.mode == PAWL_DB_READ_ONLY || use_wal(db, error);
  if (owner == OWNER_NOBODY) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no store in %s: the file is empty", db->path);
    return FALSE;
  }
  guint32 mark = GUINT32_TO_BE((guint32)id);
  char word[5] = {0};
  memcpy(word, &mark, 4);
  for (int i = 0; i < 4; i++)
    if (!g_ascii_isprint(word[i])) word[i] = '.';
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
    "%s is a database of another program (application id %" G_GINT64_FORMAT " \"%s\"), and pawl leaves it alone: name another file",
    db->path, id, word);
  return FALSE;
}

static gboolean prepare_fixed(PawlSqlite *db, GError **error) {
  struct {
    const char *text;
    sqlite3_stmt **stmt;
  } fixed[] = {{"BEGIN", &db->begin_read}, {"BEGIN IMMEDIATE", &db->begin_write}, {"COMMIT", &db->commit}, {"ROLLBACK", &db->rollback}};
  for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++) {
    int rc = sqlite3_prepare_v3(db->handle, fixed[i].text, -1, SQLITE_PREPARE_PERSISTENT, fixed[i].stmt, NULL);
    if (rc != SQLITE_OK) return opening(db, rc, error);
  }
  return TRUE;
}

static gboolean set_up(PawlSqlite *db, const PawlDbOptions *options, GError **error) {
  gint64 cache_kib = options->cache_kib > 0 ? options->cache_kib : DEFAULT_CACHE_KIB;
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL); /* "x" is a name, never a string */
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  sqlite3_busy_handler(db->handle, pawl_sqlite_busy, db);
  sqlite3_create_function(db->handle, "pawl_now_ms", 0, SQLITE_UTF8 | SQLITE_INNOCUOUS, db, sql_now_ms, NULL, NULL);
  pawl_sqlite_busy_start(db, TRUE);
  g_autofree char *cache = g_strdup_printf("PRAGMA cache_size = -%" G_GINT64_FORMAT, cache_kib);
  return opening(db, sqlite3_exec(db->handle, cache, NULL, NULL, NULL), error) &&
         opening(db, sqlite3_exec(db->handle, settings, NULL, NULL, NULL), error) && check_owner(db, options->create, error) &&
         prepare_fixed(db, error);
}

PawlDb *pawl_sqlite_open(const PawlDbOptions *options, GError **error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, configure_library);
  PawlSqlitePlace place;
  if (!pawl_sqlite_place(options, &place, error)) return NULL;
  PawlSqlite *db = g_new0(PawlSqlite, 1);
  db->base = (PawlDb){.engine = &pawl_sqlite_engine, .url = g_strdup(options->url), .mode = options->mode};
  db->path = place.path;
  db->folder = place.folder;
  db->ring_fd = -1;
  db->busy_ms = options->busy_ms > 0 ? options->busy_ms : DEFAULT_BUSY_MS;
  db->busy_jitter = (guint64)g_get_monotonic_time() << 20 ^ (guint64)getpid() ^ GPOINTER_TO_SIZE(db);
  g_snprintf(db->base.version, sizeof db->base.version, "SQLite %s", sqlite3_libversion());
  int access = options->mode == PAWL_DB_READ_ONLY ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  int rc = sqlite3_open_v2(db->path, &db->handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, NULL);
  struct stat st;
  if (!opening(db, rc, error) || !set_up(db, options, error)) {
    pawl_sqlite_close(&db->base);
    return NULL;
  }
  if (stat(db->path, &st) != 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "the store %s was moved or deleted while it was opened", db->path);
    pawl_sqlite_close(&db->base);
    return NULL;
  }
  db->line = pawl_line_of(st.st_dev, st.st_ino);
  return &db->base;
}
