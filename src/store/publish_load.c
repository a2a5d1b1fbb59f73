/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "store/publish_private.h"

static void pool_free(gpointer data) {
  PawlStoredPool *pool = data;
  g_free(pool->name);
  g_free(pool->owner_mark);
  g_free(pool->state);
  g_free(pool);
}

static void trigger_free(gpointer data) {
  PawlStoredTrigger *trigger = data;
  g_free(trigger->name);
  g_free(trigger->digest);
  g_free(trigger->pause.reason);
  g_free(trigger->pause.by);
  g_free(trigger);
}

static void task_free(gpointer data) {
  PawlStoredTask *task = data;
  g_free(task->name);
  g_free(task->owner_mark);
  g_free(task->digest);
  g_free(task->pause.reason);
  g_free(task->pause.by);
  g_ptr_array_unref(task->triggers);
  g_free(task);
}

void pawl_publish_init(PawlPublish *publish, PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options) {
  publish->store = store;
  publish->bundle = bundle;
  publish->options = options;
  publish->pools = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, pool_free);
  publish->tasks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, task_free);
  publish->changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
  publish->removed = g_array_new(FALSE, FALSE, sizeof(PawlId));
}

void pawl_publish_clear(PawlPublish *publish) {
  g_clear_pointer(&publish->pools, g_hash_table_unref);
  g_clear_pointer(&publish->tasks, g_hash_table_unref);
  g_clear_pointer(&publish->changes, g_ptr_array_unref);
  if (publish->removed != NULL) g_array_unref(publish->removed);
  publish->removed = NULL;
}

GPtrArray *pawl_publish_values(GHashTable *table) {
  GHashTableIter each;
  gpointer value;
  GPtrArray *values = g_ptr_array_new();
  g_hash_table_iter_init(&each, table);
  while (g_hash_table_iter_next(&each, NULL, &value)) g_ptr_array_add(values, value);
  return values;
}

PawlStoredTrigger *pawl_stored_trigger(const PawlStoredTask *task, const char *name) {
  for (guint i = 0; task != NULL && i < task->triggers->len; i++) {
    PawlStoredTrigger *trigger = g_ptr_array_index(task->triggers, i);
    if (g_str_equal(trigger->name, name)) return trigger;
  }
  return NULL;
}

static gboolean load_project(PawlPublish *publish, GError **error) {
  GError *why = NULL;
  const char *name = publish->bundle->project;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_PROJECT_FIND, error, PAWL_ROW(pawl_text(name)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &why)) {
    publish->project_new = TRUE;
    publish->project = pawl_id_new(publish->now_ms);
  } else {
    publish->project = pawl_rows_id(rows, 0);
    if (g_str_has_prefix(pawl_rows_text(rows, 1), "archiv"))
      g_set_error(&why, PAWL_ERROR, PAWL_ERROR_CONFLICT, "project '%s' is %s", name, pawl_rows_text(rows, 1));
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean load_pools(PawlPublish *publish, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_PUBLISH_POOLS, error, PAWL_ROW(pawl_id(&publish->project)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlStoredPool *pool = g_new0(PawlStoredPool, 1);
    pool->id = pawl_rows_id(rows, 0);
    pool->name = g_strdup(pawl_rows_text(rows, 1));
    pool->owner_mark = g_strdup(pawl_rows_text(rows, 2));
    pool->slots = (gint)pawl_rows_int(rows, 3);
    pool->overridden = !pawl_rows_is_null(rows, 4);
    pool->slots_override = (gint)pawl_rows_int(rows, 4);
    pool->state = g_strdup(pawl_rows_text(rows, 5));
    g_hash_table_insert(publish->pools, pool->name, pool);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static PawlStoredPause read_pause(PawlRows *rows, int column) {
  return (PawlStoredPause){pawl_rows_int(rows, column), pawl_rows_int(rows, column + 1), g_strdup(pawl_rows_text(rows, column + 2)),
    g_strdup(pawl_rows_text(rows, column + 3))};
}

static gboolean load_tasks(PawlPublish *publish, GHashTable *by_id, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_PUBLISH_TASKS, error, PAWL_ROW(pawl_id(&publish->project)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlStoredTask *task = g_new0(PawlStoredTask, 1);
    task->id = pawl_rows_id(rows, 0);
    task->name = g_strdup(pawl_rows_text(rows, 1));
    task->archived = !g_str_equal(pawl_rows_text(rows, 2), "active");
    task->owner_mark = g_strdup(pawl_rows_text(rows, 3));
    task->revision = pawl_rows_int(rows, 4);
    task->digest = g_strdup(pawl_rows_text(rows, 5));
    task->max_active = (gint)pawl_rows_int(rows, 6);
    task->serial = pawl_rows_int(rows, 7) != 0;
    task->pause = read_pause(rows, 8);
    task->triggers = g_ptr_array_new_with_free_func(trigger_free);
    g_hash_table_insert(publish->tasks, task->name, task);
    g_hash_table_insert(by_id, &task->id, task);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean load_triggers(PawlPublish *publish, GHashTable *by_id, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_PUBLISH_TRIGGERS, error, PAWL_ROW(pawl_id(&publish->project)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlId task_id = pawl_rows_id(rows, 1);
    PawlStoredTask *task = g_hash_table_lookup(by_id, &task_id);
    PawlStoredTrigger *trigger = g_new0(PawlStoredTrigger, 1);
    trigger->id = pawl_rows_id(rows, 0);
    trigger->name = g_strdup(pawl_rows_text(rows, 2));
    trigger->archived = !g_str_equal(pawl_rows_text(rows, 3), "active");
    trigger->revision = pawl_rows_int(rows, 4);
    trigger->digest = g_strdup(pawl_rows_text(rows, 5));
    trigger->armed = pawl_rows_int(rows, 6) != 0;
    trigger->cursor_ms = pawl_rows_int(rows, 7);
    trigger->due_at_ms = pawl_rows_int(rows, 8);
    trigger->pause = read_pause(rows, 9);
    g_ptr_array_add(task->triggers, trigger);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

gboolean pawl_publish_load(PawlPublish *publish, GError **error) {
  g_autoptr(GHashTable) by_id = g_hash_table_new(pawl_id_hash, pawl_id_equal_p);
  if (!pawl_store_now(publish->store, &publish->now_ms, error) || !load_project(publish, error)) return FALSE;
  if (publish->project_new) return TRUE;
  return load_pools(publish, error) && load_tasks(publish, by_id, error) && load_triggers(publish, by_id, error);
}

char *pawl_publish_json(PawlStore *store, PawlSql sql, const PawlId *id, gint64 revision, GError **error) {
  GError *why = NULL;
  char *json = pawl_store_string(store, sql, &why, PAWL_ROW(pawl_id(id), PAWL_INT(revision)));
  if (json == NULL && why == NULL)
    why = g_error_new(PAWL_ERROR, PAWL_ERROR_INTERNAL, "revision %" G_GINT64_FORMAT " is missing in the store", revision);
  if (why != NULL) g_propagate_error(error, why);
  return json;
}
