/* SPDX-License-Identifier: Apache-2.0 */
/* A second connection to the store under test, for looking at its tables and for putting them into a state that would take days to come about. */
#pragma once
#include "base/error.h"
#include "store_fixture.h"

#include <sqlite3.h>

static inline sqlite3 *peek_open(void) {
  sqlite3 *db = NULL;
  g_autofree char *path = g_strdup_printf("%s/pawl.db", fixture_folder);
  g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
  sqlite3_busy_timeout(db, 10000);
  return db;
}

/* Runs statements; a failure ends the test. */
static inline void poke(const char *format, ...) G_GNUC_PRINTF(1, 2);
static inline void poke(const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *sql = g_strdup_vprintf(format, args);
  va_end(args);
  sqlite3 *db = peek_open();
  char *why = NULL;
  sqlite3_exec(db, sql, NULL, NULL, &why);
  g_assert_cmpstr(why, ==, NULL);
  sqlite3_close(db);
}

/* All rows as text: columns joined by '|', rows by blanks; null is "-". Caller g_free()s. */
static inline char *peek(const char *format, ...) G_GNUC_PRINTF(1, 2);
static inline char *peek(const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *sql = g_strdup_vprintf(format, args);
  va_end(args);
  sqlite3 *db = peek_open();
  sqlite3_stmt *statement = NULL;
  GString *text = g_string_new(NULL);
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) g_error("%s: %s", sql, sqlite3_errmsg(db));
  while (sqlite3_step(statement) == SQLITE_ROW) {
    if (text->len > 0) g_string_append_c(text, ' ');
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      const char *value = (const char *)sqlite3_column_text(statement, i);
      g_string_append_printf(text, "%s%s", i > 0 ? "|" : "", value != NULL ? value : "-");
    }
  }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return g_string_free(text, FALSE);
}

#define assert_peek(expected, ...)                                                                                                         \
  do {                                                                                                                                     \
    g_autofree char *peeked_ = peek(__VA_ARGS__);                                                                                          \
    g_assert_cmpstr(peeked_, ==, expected);                                                                                                \
  } while (0)

static inline gint64 peek_int(const char *sql) {
  g_autofree char *text = peek("%s", sql);
  return g_ascii_strtoll(text, NULL, 10);
}

/* "+ task a" for each change that is not SAME: + added, ~ edited, - removed, ! note; lines follow in brackets. Caller g_free()s. */
static inline char *changes_text(const GPtrArray *changes) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < changes->len; i++) {
    const PawlChange *change = g_ptr_array_index(changes, i);
    if (change->kind == PAWL_CHANGE_SAME) continue;
    g_string_append_printf(text, "%s%c %s", text->len > 0 ? "; " : "", "+~-=!"[change->kind], change -> object);
    for (guint j = 0; j < change->lines->len; j++)
      g_string_append_printf(text, "%s%s%s", j == 0 ? " [" : ", ", (char *)change->lines->pdata[j], j + 1 == change->lines->len ? "]" : "");
  }
  return g_string_free(text, FALSE);
}

static inline PawlBundle *bundle_of(const char *yaml) {
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  PawlBundle *bundle = pawl_bundle_from_yaml(yaml, strlen(yaml), "test.yaml", issues);
  for (guint i = 0; i < issues->len && bundle == NULL; i++) {
    g_autofree char *text = pawl_issue_text(g_ptr_array_index(issues, i));
    g_test_message("%s", text);
  }
  g_assert_nonnull(bundle);
  return bundle;
}

/* What apply does, as changes_text(), or the error's message after its name. Caller g_free()s. */
static inline char *apply_text(PawlStore *store, const char *yaml, const PawlApplyOptions *options) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlBundle) bundle = bundle_of(yaml);
  g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
  if (pawl_store_apply(store, bundle, options, changes, &error)) return changes_text(changes);
  g_assert_cmpuint(changes->len, ==, 0);
  return g_strdup_printf("%s: %s", pawl_error_info_of(error)->name, error->message);
}
