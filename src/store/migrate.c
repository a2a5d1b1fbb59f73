/* SPDX-License-Identifier: Apache-2.0 */
/* The schema grows by numbered scripts; each is recorded with the digest of its text. A store is used only when what made it is exactly
 * what this program would have run, or a beginning of that. Opening a store that is up to date takes no lock; everything else happens
 * under the write lock and looks again there, so that two processes which open a fresh store at once make one schema. */
#include "base/error.h"
#include "base/json.h"
#include "store/schema.h"
#include "store/store_private.h"

#include <unistd.h>

#define MIGRATION_MS 600000 /* a script may take long on a large installation */

typedef struct {
  gboolean exists;
  gsize applied; /* the first so many of the list */
} SchemaState;

/* A file's schema stays as it is until somebody acts; a server's may be brought up to date by another at any moment, so who waits tries again. */
static int unfit(PawlDb *db) { return pawl_db_server(db) != NULL ? PAWL_ERROR_UNAVAILABLE : PAWL_ERROR_CONFIG; }

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
  {
    g_autoptr(PawlRows) found = pawl_db_query(db, PAWL_SQL_SCHEMA_EXISTS, error, PAWL_NO_PARAMS);
    if (found == NULL) return FALSE;
    if (pawl_rows_next(found, &why)) state.exists = pawl_rows_int(found, 0) != 0;
  }
  if (why == NULL && state.exists) {
    g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_MIGRATION_LIST, error, PAWL_NO_PARAMS);
    if (rows == NULL) return FALSE;
    while (pawl_rows_next(rows, &why)) {
      if (!check_row(db, list, n, state.applied, pawl_rows_int(rows, 0), pawl_rows_text(rows, 2), error)) return FALSE;
      state.applied++;
    }
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
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
          db, PAWL_SQL_MIGRATION_INSERT, NULL, error, PAWL_ROW(PAWL_INT(list[i].number), pawl_text(list[i].name), pawl_text(digest))))
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

gboolean pawl_store_migrate(PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, GError **error) {
  SchemaState state;
  if (!read_state(db, list, n, &state, error)) return FALSE;
  if (!state.exists || state.applied < n) {
    if (!may_migrate(db, &state, n, how, error) || !pawl_db_begin(db, PAWL_TX_WRITE, error)) return FALSE;
    if (!lock_schema(db, error) || !read_state(db, list, n, &state, error) || !run_scripts(db, list, state.applied, n, error)) {
      pawl_db_rollback(db);
      return FALSE;
    }
    if (!pawl_db_commit(db, error)) return FALSE;
  }
  *ret_version = n > 0 ? list[n - 1].number : 0;
  return TRUE;
}

/* ---- for people who keep the schema ---- */

void pawl_schema_step_free(PawlSchemaStep *step) {
  if (step == NULL) return;
  g_free(step->name);
  g_free(step);
}

void pawl_privilege_free(PawlPrivilege *privilege) {
  if (privilege == NULL) return;
  g_free(privilege->object);
  g_free(privilege->privilege);
  g_free(privilege->difference);
  g_free(privilege);
}

static void add_step(GPtrArray *steps, gint number, const char *name, PawlStepState state) {
  PawlSchemaStep *step = g_new(PawlSchemaStep, 1);
  *step = (PawlSchemaStep){number, g_strdup(name), state};
  g_ptr_array_add(steps, step);
}

static gboolean read_steps(PawlDb *db, GPtrArray *steps, GError **error) {
  gsize n, at = 0;
  GError *why = NULL;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  PawlRows *found = pawl_db_query(db, PAWL_SQL_SCHEMA_EXISTS, error, PAWL_NO_PARAMS);
  if (found == NULL) return FALSE;
  gboolean exists = pawl_rows_next(found, &why) && pawl_rows_int(found, 0) != 0;
  pawl_rows_close(found);
  g_autoptr(PawlRows) rows = exists ? pawl_db_query(db, PAWL_SQL_MIGRATION_LIST, &why, PAWL_NO_PARAMS) : NULL;
  for (; rows != NULL && pawl_rows_next(rows, &why); at++) {
    g_autofree char *mine = at < n ? pawl_digest(list[at].sql, -1) : NULL;
    gboolean same = mine != NULL && list[at].number == pawl_rows_int(rows, 0) && g_str_equal(mine, pawl_rows_text(rows, 2));
    add_step(steps, (gint)pawl_rows_int(rows, 0), pawl_rows_text(rows, 1),
      at >= n ? PAWL_STEP_UNKNOWN
      : same  ? PAWL_STEP_APPLIED
              : PAWL_STEP_DRIFTED);
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  for (; at < n; at++) add_step(steps, list[at].number, list[at].name, PAWL_STEP_PENDING);
  return TRUE;
}

gboolean pawl_schema_read(const char *url, GPtrArray *steps, char **ret_url, GError **error) {
  PawlDbOptions how = {.url = url, .mode = PAWL_DB_READ_ONLY};
  PawlDb *db = pawl_db_open(&how, error);
  if (db == NULL) return FALSE;
  gboolean ok = read_steps(db, steps, error);
  if (ok && ret_url != NULL) *ret_url = g_strdup(pawl_db_url(db));
  pawl_db_close(db);
  return ok;
}

gboolean pawl_schema_migrate(const char *url, guint *ret_ran, GError **error) {
  gsize n;
  gint version;
  g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_schema_step_free);
  PawlDbOptions how = {.url = url, .mode = PAWL_DB_READ_WRITE, .create = TRUE, .statement_ms = MIGRATION_MS, .busy_ms = MIGRATION_MS};
  PawlDb *db = pawl_db_open(&how, error);
  if (db == NULL) return FALSE;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  gboolean ok = read_steps(db, steps, error);
  guint pending = 0;
  for (guint i = 0; ok && i < steps->len; i++) pending += ((PawlSchemaStep *)g_ptr_array_index(steps, i))->state == PAWL_STEP_PENDING;
  PawlMigrateHow upgrade = pending == steps->len ? PAWL_MIGRATE_CREATE : PAWL_MIGRATE_UPGRADE;
  ok = ok && pawl_store_migrate(db, list, n, upgrade, &version, error);
  pawl_db_close(db);
  if (ok) *ret_ran = pending;
  return ok;
}

static gboolean read_privileges(PawlRows *rows, GPtrArray *differences, GError **error) {
  GError *why = NULL;
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlPrivilege *p = g_new(PawlPrivilege, 1);
    *p = (PawlPrivilege){g_strdup(pawl_rows_text(rows, 0)), g_strdup(pawl_rows_text(rows, 1)), g_strdup(pawl_rows_text(rows, 2))};
    g_ptr_array_add(differences, p);
  }
  pawl_rows_close(rows);
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

gboolean pawl_schema_role(const char *url, const char *kind, const char *role, gboolean change, GPtrArray *differences, GError **error) {
  PawlDbOptions how = {.url = url, .mode = PAWL_DB_READ_WRITE};
  PawlDb *db = pawl_db_open(&how, error);
  if (db == NULL) return FALSE;
  gboolean ok = FALSE;
  if (pawl_db_server(db) == NULL)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s has no roles: the owner of the file may do everything", pawl_db_url(db));
  else if (pawl_db_begin(db, PAWL_TX_WRITE, error))
    ok = read_privileges(
           pawl_db_query(db, change ? PAWL_SQL_ROLE_GRANT : PAWL_SQL_ROLE_DIFFERENCES, error, PAWL_ROW(pawl_text(kind), pawl_text(role))),
           differences, error) &&
         pawl_db_commit(db, error);
  if (!ok) pawl_db_rollback(db);
  pawl_db_close(db);
  return ok;
}
