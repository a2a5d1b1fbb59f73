/* SPDX-License-Identifier: Apache-2.0 */
#include "store/schema.h"

#include "base/error.h"
#include "base/json.h"
#include "store/store_private.h"

#define MIGRATION_MS 600000 /* a script may take long on a large installation */

void pawl_schema_step_free(PawlSchemaStep *step) {
  if (step == NULL) return;
  g_free(step->name);
  g_free(step->digest);
  g_free(step->mine);
  g_free(step->sql);
  g_free(step);
}

void pawl_privilege_free(PawlPrivilege *privilege) {
  if (privilege == NULL) return;
  g_free(privilege->object);
  g_free(privilege->privilege);
  g_free(privilege->difference);
  g_free(privilege);
}

/* ---- steps ---- */

/* A step that was run: `known` is this program's script at the same place, or NULL. */
static PawlSchemaStep *step_that_ran(PawlRows *rows, const PawlMigration *known) {
  PawlSchemaStep *step = g_new0(PawlSchemaStep, 1);
  step->number = (gint)pawl_rows_int(rows, 0);
  step->name = g_strdup(pawl_rows_text(rows, 1));
  step->digest = g_strdup(pawl_rows_text(rows, 2));
  step->mine = known != NULL ? pawl_digest(known->sql, -1) : NULL;
  step->sql = known != NULL ? g_strdup(known->sql) : NULL;
  step->state = known == NULL                                                            ? PAWL_STEP_UNKNOWN
                : known->number == step->number && g_str_equal(step->mine, step->digest) ? PAWL_STEP_APPLIED
                                                                                         : PAWL_STEP_DRIFTED;
  return step;
}

static void add_pending(GPtrArray *steps, const PawlMigration *script) {
  PawlSchemaStep *step = g_new0(PawlSchemaStep, 1);
  *step = (PawlSchemaStep){.number = script->number,
    .name = g_strdup(script->name),
    .state = PAWL_STEP_PENDING,
    .mine = pawl_digest(script->sql, -1),
    .sql = g_strdup(script->sql)};
  g_ptr_array_add(steps, step);
}

static gboolean read_ran(PawlDb *db, const PawlMigration *list, gsize n, GPtrArray *steps, GError **error) {
  gint64 found;
  GError *why = NULL;
  {
    g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_SCHEMA_EXISTS, error, PAWL_NO_PARAMS);
    if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
    found = pawl_rows_int(rows, 0);
  }
  if (found == 0) return TRUE;
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_MIGRATION_LIST, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) g_ptr_array_add(steps, step_that_ran(rows, steps->len < n ? &list[steps->len] : NULL));
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean read_steps(PawlDb *db, GPtrArray *steps, GError **error) {
  gsize n;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  if (!read_ran(db, list, n, steps, error)) return FALSE;
  for (guint i = 0; i < steps->len; i++) {
    PawlSchemaStep *step = g_ptr_array_index(steps, i);
    gint64 serves;
    if (step->state != PAWL_STEP_UNKNOWN) continue;
    if (!pawl_schema_serves(db, step->number, &serves, error)) return FALSE;
    if (n > 0 && serves <= list[n - 1].number) step->state = PAWL_STEP_NEWER;
  }
  for (gsize at = steps->len; at < n; at++) add_pending(steps, &list[at]);
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

static gboolean refuse_foreign(const GPtrArray *steps, GError **error) {
  for (guint i = 0; i < steps->len; i++) {
    const PawlSchemaStep *step = g_ptr_array_index(steps, i);
    if (step->state != PAWL_STEP_DRIFTED && step->state != PAWL_STEP_UNKNOWN) continue;
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "script %04d_%s %s; see `pawl db status`", step->number, step->name,
      step->state == PAWL_STEP_DRIFTED ? "was run with another text than this pawl has" : "is of a newer pawl: use that one");
    return FALSE;
  }
  return TRUE;
}

gboolean pawl_schema_migrate(const char *url, guint *ret_ran, GError **error) {
  gsize n;
  gint version;
  g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_schema_step_free);
  PawlDbOptions how = {.url = url, .mode = PAWL_DB_READ_WRITE, .create = TRUE, .statement_ms = MIGRATION_MS, .busy_ms = MIGRATION_MS};
  PawlDb *db = pawl_db_open(&how, error);
  if (db == NULL) return FALSE;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  gboolean ok = read_steps(db, steps, error) && refuse_foreign(steps, error) &&
                pawl_store_migrate_count(db, list, n,
                  steps->len > 0 && ((PawlSchemaStep *)g_ptr_array_index(steps, 0))->state == PAWL_STEP_PENDING ? PAWL_MIGRATE_CREATE
                                                                                                                : PAWL_MIGRATE_UPGRADE,
                  &version, ret_ran, error);
  pawl_db_close(db);
  return ok;
}

/* ---- roles ---- */

static PawlDb *open_with_roles(const char *url, GError **error) {
  PawlDbOptions how = {.url = url, .mode = PAWL_DB_READ_WRITE};
  PawlDb *db = pawl_db_open(&how, error);
  if (db == NULL || pawl_db_server(db) != NULL) return db;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s has no roles: the owner of the file may do everything", pawl_db_url(db));
  pawl_db_close(db);
  return NULL;
}

static gboolean find_role(PawlDb *db, const char *role, gboolean *ret_found, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_ROLE_EXISTS, error, PAWL_ROW(pawl_text(role)));
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  *ret_found = pawl_rows_int(rows, 0) != 0;
  return TRUE;
}

static gboolean make_role(PawlDb *db, const char *kind, const char *role, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(db, PAWL_SQL_ROLE_MAKE, error, PAWL_ROW(pawl_text(kind), pawl_text(role)));
  return rows != NULL && pawl_rows_next(rows, error);
}

gboolean pawl_schema_role_find(const char *url, const char *kind, const char *role, gboolean make, gboolean *ret_found, GError **error) {
  gboolean found = FALSE;
  PawlDb *db = open_with_roles(url, error);
  if (db == NULL) return FALSE;
  gboolean ok = pawl_db_begin(db, PAWL_TX_WRITE, error) && find_role(db, role, &found, error);
  if (ok && !found && make) ok = found = make_role(db, kind, role, error);
  ok = ok && pawl_db_commit(db, error);
  if (ok) *ret_found = found;
  pawl_db_rollback(db);
  pawl_db_close(db);
  return ok;
}

gboolean pawl_schema_role_sql(const char *url, const char *kind, const char *role, gboolean make, char **ret_sql, GError **error) {
  GError *why = NULL;
  g_autoptr(GString) sql = g_string_new(NULL);
  PawlDb *db = open_with_roles(url, error);
  if (db == NULL) return FALSE;
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_ROLE_SQL, &why, PAWL_ROW(pawl_text(kind), pawl_text(role), PAWL_INT(make)));
  while (rows != NULL && pawl_rows_next(rows, &why)) g_string_append_printf(sql, "%s\n", pawl_rows_text(rows, 0));
  pawl_rows_close(rows);
  pawl_db_close(db);
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  *ret_sql = g_string_free(g_steal_pointer(&sql), FALSE);
  return TRUE;
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
  PawlSql sql = change ? PAWL_SQL_ROLE_GRANT : PAWL_SQL_ROLE_DIFFERENCES;
  PawlDb *db = open_with_roles(url, error);
  if (db == NULL) return FALSE;
  gboolean ok = pawl_db_begin(db, PAWL_TX_WRITE, error) &&
                read_privileges(pawl_db_query(db, sql, error, PAWL_ROW(pawl_text(kind), pawl_text(role))), differences, error) &&
                pawl_db_commit(db, error);
  pawl_db_rollback(db);
  pawl_db_close(db);
  return ok;
}
