/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "store/store_private.h"

#include <string.h>

void pawl_ref_clear(PawlRef *ref) {
  g_clear_pointer(&ref->task_name, g_free);
  g_clear_pointer(&ref->trigger_name, g_free);
}

/* Levenshtein's distance; names are ASCII. */
static guint distance(const char *a, const char *b) {
  guint row[PAWL_NAME_MAX + 1];
  gsize n = MIN(strlen(b), (gsize)PAWL_NAME_MAX);
  for (guint j = 0; j <= n; j++) row[j] = j;
  for (guint i = 1; a[i - 1] != '\0'; i++) {
    guint diagonal = row[0];
    row[0] = i;
    for (guint j = 1; j <= n; j++) {
      guint above = row[j];
      guint change = diagonal + (g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]) ? 0 : 1);
      row[j] = MIN(MIN(above + 1, row[j - 1] + 1), change);
      diagonal = above;
    }
  }
  return row[n];
}

const char *pawl_nearest(const char *name, const GPtrArray *names) {
  const char *best = NULL;
  gsize length = strlen(name);
  guint least = length <= 4 ? 1 : 2;
  if (length > PAWL_NAME_MAX) return NULL;
  for (guint i = 0; i < names->len; i++) {
    const char *candidate = g_ptr_array_index(names, i);
    guint d = distance(name, candidate);
    if (d < least || (d == least && best == NULL)) {
      least = d;
      best = candidate;
    }
  }
  return best;
}

gboolean pawl_store_not_found(
  PawlStore *store, const char *kind, const char *name, PawlSql names_sql, GError **error, const PawlValue *values, gsize n) {
  GError *why = NULL;
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, names_sql, error, values, n);
    if (rows == NULL) return FALSE;
    while (pawl_rows_next(rows, &why)) g_ptr_array_add(names, g_strdup(pawl_rows_text(rows, 0)));
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  const char *nearest = pawl_nearest(name, names);
  if (nearest != NULL)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no %s '%s'; did you mean '%s'?", kind, name, nearest);
  else if (names->len == 0)
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no %s '%s', and no other either", kind, name);
  else
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no %s '%s'", kind, name);
  return FALSE;
}

/* Runs a find statement whose first column is an id. 1: found, 0: not, -1: failed. The row is left open in *ret_rows. */
static gint find_row(PawlStore *store, PawlSql sql, PawlRows **ret_rows, GError **error, const PawlValue *values, gsize n) {
  GError *why = NULL;
  PawlRows *rows = pawl_db_query(store->db, sql, error, values, n);
  if (rows == NULL) return -1;
  if (pawl_rows_next(rows, &why)) {
    *ret_rows = rows;
    return 1;
  }
  pawl_rows_close(rows);
  if (why == NULL) return 0;
  g_propagate_error(error, why);
  return -1;
}

gboolean pawl_store_lookup_project(PawlStore *store, const char *project, PawlId *ret_project, GError **error) {
  const char *name = project != NULL ? project : "default";
  g_autoptr(PawlRows) rows = NULL;
  gint found = find_row(store, PAWL_SQL_PROJECT_FIND, &rows, error, PAWL_ROW(pawl_text(name)));
  if (found == 1) *ret_project = pawl_rows_id(rows, 0);
  if (found == 0) {
    if (g_str_equal(name, "default"))
      g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "nothing has been applied to this store yet");
    else
      pawl_store_not_found(store, "project", name, PAWL_SQL_PROJECT_NAMES, error, PAWL_NO_PARAMS);
  }
  return found == 1;
}

static gboolean find_task(PawlStore *store, gboolean archived_too, PawlRef *ref, GError **error) {
  gint found;
  {
    g_autoptr(PawlRows) rows = NULL;
    found = find_row(store, PAWL_SQL_TASK_FIND, &rows, error, PAWL_ROW(pawl_id(&ref->project), pawl_text(ref->task_name)));
    if (found == 1) {
      ref->task = pawl_rows_id(rows, 0);
      ref->task_archived = !g_str_equal(pawl_rows_text(rows, 1), "active");
      ref->task_revision = pawl_rows_int(rows, 2);
      ref->task_paused = !pawl_rows_is_null(rows, 3);
    }
  }
  if (found == 0 || (found == 1 && ref->task_archived && !archived_too))
    return pawl_store_not_found(store, "task", ref->task_name, PAWL_SQL_TASK_NAMES, error, PAWL_ROW(pawl_id(&ref->project)));
  return found == 1;
}

static gboolean find_trigger(PawlStore *store, gboolean archived_too, PawlRef *ref, GError **error) {
  gint found;
  {
    g_autoptr(PawlRows) rows = NULL;
    found = find_row(store, PAWL_SQL_TRIGGER_FIND, &rows, error, PAWL_ROW(pawl_id(&ref->task), pawl_text(ref->trigger_name)));
    if (found == 1) {
      ref->trigger = pawl_rows_id(rows, 0);
      ref->trigger_archived = !g_str_equal(pawl_rows_text(rows, 1), "active");
      ref->trigger_revision = pawl_rows_int(rows, 2);
    }
  }
  if (found == 0 || (found == 1 && ref->trigger_archived && !archived_too)) {
    g_autofree char *kind = g_strdup_printf("trigger of task '%s' named", ref->task_name);
    return pawl_store_not_found(store, kind, ref->trigger_name, PAWL_SQL_TRIGGER_NAMES, error, PAWL_ROW(pawl_id(&ref->task)));
  }
  return found == 1;
}

/* Of a task that the project does not have: which other has one of that name. */
static void say_elsewhere(PawlStore *store, const char *task, GError **why) {
  g_autofree char *other = NULL;
  {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASKS_LIST, NULL, PAWL_ROW(pawl_text(NULL), pawl_text(task)));
    while (rows != NULL && other == NULL && pawl_rows_next(rows, NULL))
      if (g_str_equal(pawl_rows_text(rows, 3), "active")) other = g_strdup(pawl_rows_text(rows, 1));
  }
  if (other == NULL) return;
  g_clear_error(why);
  g_set_error(
    why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no task '%s' in this project; project '%s' has one: --project %s", task, other, other);
}

gboolean pawl_store_lookup(
  PawlStore *store, const char *project, const char *reference, gboolean archived_too, PawlRef *ret, GError **error) {
  const char *slash = strchr(reference, '/');
  pawl_ref_clear(ret);
  *ret = (PawlRef){0};
  ret->task_name = slash != NULL ? g_strndup(reference, (gsize)(slash - reference)) : g_strdup(reference);
  ret->trigger_name = slash != NULL ? g_strdup(slash + 1) : NULL;
  GError *why = NULL;
  if (!pawl_store_lookup_project(store, project, &ret->project, &why) || !find_task(store, archived_too, ret, &why)) {
    if (g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) say_elsewhere(store, ret->task_name, &why);
    g_propagate_error(error, why);
    return FALSE;
  }
  return slash == NULL || find_trigger(store, archived_too, ret, error);
}
