/* SPDX-License-Identifier: Apache-2.0 */
/* The schema grows by numbered scripts; each is recorded with the digest of its text. A store is used only when what made it is exactly
 * what this program would have run, or a beginning of that. Opening a store that is up to date takes no lock; everything else happens
 * under the write lock and looks again there, so that two processes which open a fresh store at once make one schema.
 *
 * Old and new programs run side by side while replicas are changed one by one (docs/adr/0011-rolling-upgrade.md): a script that only adds
 * says in its header "-- serves: N", which is kept as a row of meta, and a program that knows scripts up to N or more goes on using the
 * store. A newer script that says nothing is refused. */
#include "base/error.h"
#include "base/json.h"
#include "store/store_private.h"

#include <string.h>
#include <unistd.h>

#define SERVES "\n-- serves: "

typedef struct {
  gboolean exists;
  gsize applied; /* the first so many of the list */
  gint version;  /* the newest that was run, by whomever */
} SchemaState;

/* A file's schema stays as it is until somebody acts; a server's may be brought up to date by another at any moment, so
 * who waits tries again. */
static int unfit(PawlDb *db) { return pawl_db_server(db) != NULL ? PAWL_ERROR_UNAVAILABLE : PAWL_ERROR_CONFIG; }

static char *serves_key(gint64 number) { return g_strdup_printf("schema.%" G_GINT64_FORMAT ".serves", number); }

gboolean pawl_schema_serves(PawlDb *db, gint64 number, gint64 *ret_serves, GError **error) {
  GError *why = NULL;
  g_autofree char *key = serves_key(number);
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_META_GET, error, PAWL_ROW(pawl_text(key)));
  if (rows == NULL) return FALSE;
  *ret_serves = G_MAXINT64;
  if (pawl_rows_next(rows, &why)) g_ascii_string_to_signed(pawl_rows_text(rows, 0), 10, 1, G_MAXINT, ret_serves, NULL);
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean write_serves(PawlDb *db, const PawlMigration *script, GError **error) {
  const char *said = strstr(script->sql, SERVES);
  if (said == NULL) return TRUE;
  g_autofree char *key = serves_key(script->number), *value = g_strdup_printf("%d", (int)g_ascii_strtoll(said + strlen(SERVES), NULL, 10));
  return pawl_db_exec(db, PAWL_SQL_META_SET, NULL, error, PAWL_ROW(pawl_text(key), pawl_text(value)));
}

static gboolean check_row(PawlDb *db, const PawlMigration *list, gsize n, gsize at, gint64 number, const char *digest, GError **error) {
  if (at >= n || list[at].number != number) {
    g_set_error(error, PAWL_ERROR, unfit(db),
      "the store %s has schema %" G_GINT64_FORMAT
      " and this pawl knows schemas up to %d: use the newer pawl that made it, or a backup from before",
      pawl_db_url(db), number, n > 0 ? list[n - 1].number : 0);
    return FALSE;
  }
  g_autofree char *mine = pawl_digest(list[at].sql, -1);
  if (g_str_equal(mine, digest)) return TRUE;
  g_set_error(error, PAWL_ERROR, unfit(db),
    "schema script %04d_%s of the store %s is %.12s, this pawl's is %.12s: the store was made by another build; use that one, or export and start anew",
    list[at].number, list[at].name, pawl_db_url(db), digest, mine);
  return FALSE;
}

static gboolean read_state(PawlDb *db, const PawlMigration *list, gsize n, SchemaState *ret_state, GError **error) {
  GError *why = NULL;
  SchemaState state = {0};
  g_autoptr(GArray) newer = g_array_new(FALSE, FALSE, sizeof(gint64));
  {
    g_autoptr(PawlRows) found = pawl_db_query(db, PAWL_SQL_SCHEMA_EXISTS, error, PAWL_NO_PARAMS);
    if (found == NULL) return FALSE;
    if (pawl_rows_next(found, &why)) state.exists = pawl_rows_int(found, 0) != 0;
  }
  if (why == NULL && state.exists) {
    g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_MIGRATION_LIST, error, PAWL_NO_PARAMS);
    if (rows == NULL) return FALSE;
    while (pawl_rows_next(rows, &why)) {
      gint64 number = pawl_rows_int(rows, 0);
      state.version = (gint)number;
      if (state.applied == n && n > 0 && number > list[n - 1].number) {
        g_array_append_val(newer, number);
        continue;
      }
      if (!check_row(db, list, n, state.applied, number, pawl_rows_text(rows, 2), error)) return FALSE;
      state.applied++;
    }
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  for (guint i = 0; i < newer->len; i++) {
    gint64 number = g_array_index(newer, gint64, i), serves;
    if (!pawl_schema_serves(db, number, &serves, error)) return FALSE;
    if (serves > list[n - 1].number) return check_row(db, list, n, n, number, "", error);
  }
  *ret_state = state;
  return TRUE;
}

static gboolean run_scripts(PawlDb *db, const PawlMigration *list, gsize from, gsize n, GError **error) {
  for (gsize i = from; i < n; i++) {
    g_autofree char *digest = pawl_digest(list[i].sql, -1);
    if (!pawl_db_script(db, list[i].sql, error)) {
      g_prefix_error(error, "schema script %04d_%s: ", list[i].number, list[i].name);
      return FALSE;
    }
    if (!pawl_db_exec(
          db, PAWL_SQL_MIGRATION_INSERT, NULL, error, PAWL_ROW(PAWL_INT(list[i].number), pawl_text(list[i].name), pawl_text(digest))) ||
        !write_serves(db, &list[i], error))
      return FALSE;
  }
  return TRUE;
}

static gboolean may_migrate(PawlDb *db, const SchemaState *state, gsize n, PawlMigrateHow how, GError **error) {
  if (!state->exists && how != PAWL_MIGRATE_CREATE) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no pawl schema in %s", pawl_db_url(db));
    return FALSE;
  }
  if (pawl_db_server(db) != NULL && how != PAWL_MIGRATE_UPGRADE && state->exists) {
    g_set_error(error, PAWL_ERROR, unfit(db),
      "%s has an older schema (%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " scripts): run `pawl db migrate` as its owner", pawl_db_url(db),
      state->applied, n);
    return FALSE;
  }
  if (how == PAWL_MIGRATE_NEVER) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
      "the store %s has an older schema (%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
      " scripts): start `pawl up` once, which brings it up to date",
      pawl_db_url(db), state->applied, n);
    return FALSE;
  }
  gint64 holder = pawl_db_holder(db);
  if (state->exists && holder != 0 && holder != getpid()) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_BUSY,
      "the store %s has an older schema and an older pawl (pid %" G_GINT64_FORMAT ") runs on it: stop that one first", pawl_db_url(db),
      holder);
    return FALSE;
  }
  return TRUE;
}

/* What SQLite's write lock does: of two processes that open a fresh store at once the second looks when the first has made it. */
static gboolean lock_schema(PawlDb *db, GError **error) {
  if (pawl_db_server(db) == NULL) return TRUE;
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_MIGRATE_LOCK, error, PAWL_NO_PARAMS);
  return rows != NULL && pawl_rows_next(rows, error);
}

gboolean pawl_store_migrate_count(
  PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, guint *ret_ran, GError **error) {
  SchemaState state;
  guint ran = 0;
  if (!read_state(db, list, n, &state, error)) return FALSE;
  if (!state.exists || state.applied < n) {
    if (!may_migrate(db, &state, n, how, error) || !pawl_db_begin(db, PAWL_TX_WRITE, error)) return FALSE;
    if (!lock_schema(db, error) || !read_state(db, list, n, &state, error) || !run_scripts(db, list, state.applied, n, error)) {
      pawl_db_rollback(db);
      return FALSE;
    }
    if (!pawl_db_commit(db, error)) return FALSE;
    ran = (guint)(n - state.applied);
  }
  *ret_version = MAX(state.version, n > 0 ? list[n - 1].number : 0);
  *ret_ran = ran;
  return TRUE;
}

gboolean pawl_store_migrate(PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, GError **error) {
  guint ignored;
  return pawl_store_migrate_count(db, list, n, how, ret_version, &ignored, error);
}
