/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the database port share: a folder that is gone afterwards, opening with the tests' schema, and a second process, which is the test
 * program itself with other arguments. */
#pragma once
#include "base/error.h"
#include "db/db.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *folder, *path, *url;
} Place;

static inline void place_make(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  place->folder = g_dir_make_tmp("pawl-db-XXXXXX", &error);
  g_assert_no_error(error);
  place->path = g_build_filename(place->folder, "pawl.db", NULL);
  place->url = g_strconcat("sqlite:", place->path, NULL);
}

static inline void remove_tree(const char *folder) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
      remove_tree(path);
    else
      g_unlink(path);
  }
  if (dir != NULL) g_dir_close(dir);
  g_rmdir(folder);
}

static inline void place_drop(Place *place, gconstpointer data) {
  remove_tree(place->folder);
  g_free(place->folder);
  g_free(place->path);
  g_free(place->url);
}

static inline PawlDb *open_url(const char *url, gboolean create, GError **error) {
  return pawl_db_open(&(PawlDbOptions){.url = url, .create = create, .busy_ms = 20000}, error);
}

/* Opens, and makes the tests' tables when there are none. */
static inline PawlDb *open_made(const char *url) {
  g_autoptr(GError) error = NULL;
  gsize n;
  PawlDb *db = open_url(url, TRUE, &error);
  g_assert_no_error(error);
  const PawlMigration *list = pawl_db_migrations(db, &n);
  pawl_db_begin(db, PAWL_TX_WRITE, &error);
  g_assert_no_error(error);
  for (gsize i = 0; i < n && pawl_db_script(db, list[i].sql, &error); i++) continue;
  g_assert_no_error(error);
  pawl_db_commit(db, &error);
  g_assert_no_error(error);
  return db;
}

static inline PawlDb *open_again(const char *url) {
  g_autoptr(GError) error = NULL;
  PawlDb *db = open_url(url, FALSE, &error);
  g_assert_no_error(error);
  return db;
}

/* Runs a statement that must work. */
static inline gint64 exec(PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values) {
  g_autoptr(GError) error = NULL;
  gint64 changed = -1;
  pawl_db_exec(db, sql, &changed, &error, values, n_values);
  g_assert_no_error(error);
  return changed;
}

static inline gint64 read_one(PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(db, sql, &error, values, n_values);
  g_assert_no_error(error);
  g_assert_true(pawl_rows_next(rows, &error));
  return pawl_rows_int(rows, 0);
}

static inline void begin(PawlDb *db, PawlTx kind) {
  g_autoptr(GError) error = NULL;
  pawl_db_begin(db, kind, &error);
  g_assert_no_error(error);
}

static inline void commit(PawlDb *db) {
  g_autoptr(GError) error = NULL;
  pawl_db_commit(db, &error);
  g_assert_no_error(error);
}

#define assert_error(error, kind, text)                                                                                                    \
  G_STMT_START {                                                                                                                           \
    g_assert_error(error, PAWL_ERROR, kind);                                                                                               \
    if (strstr((error)->message, text) == NULL) g_error("'%s' does not say '%s'", (error)->message, text);                                 \
  }                                                                                                                                        \
  G_STMT_END

static inline void assert_bytes(const void *a, gsize n_a, const void *b, gsize n_b) {
  g_assert_cmpuint(n_a, ==, n_b);
  g_assert_true(n_a == 0 || memcmp(a, b, n_a) == 0);
}

/* ---- a second process ---- */
static inline GPid child_start(const char *const *arguments /* NULL at the end */) {
  g_autoptr(GError) error = NULL;
  g_autofree char *self = g_file_read_link("/proc/self/exe", &error);
  g_assert_no_error(error);
  g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
  g_strv_builder_add(builder, self);
  for (; *arguments != NULL; arguments++) g_strv_builder_add(builder, *arguments);
  g_auto(GStrv) argv = g_strv_builder_end(builder);
  GPid pid;
  g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, &error);
  g_assert_no_error(error);
  return pid;
}

/* Its exit code, or 128 + the signal. */
static inline int child_wait(GPid pid) {
  int status;
  while (waitpid(pid, &status, 0) < 0) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for a condition, at most ten seconds. */
#define wait_until(condition)                                                                                                              \
  G_STMT_START {                                                                                                                           \
    gint64 until = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;                                                                           \
    while (!(condition)) {                                                                                                                 \
      if (g_get_monotonic_time() > until) g_error("%s did not come true in 10 s", #condition);                                             \
      g_usleep(1000);                                                                                                                      \
    }                                                                                                                                      \
  }                                                                                                                                        \
  G_STMT_END
