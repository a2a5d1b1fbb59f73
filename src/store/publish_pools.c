/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of a publication. Each project has the pool `default`, unlimited until a file says otherwise. A pool that several files declare
 * alike belongs to the first; it may be removed only when nothing can put a run into it any more and none stands in it. */
#include "base/error.h"
#include "store/publish_private.h"

#define DEFAULT_POOL "default"

gboolean pawl_stored_pool_goes(const PawlStoredPool *pool) {
  return g_str_equal(pool->state, "deleted") || g_str_equal(pool->state, "draining");
}

static const PawlPoolSpec *wanted_pool(const PawlBundle *bundle, const char *name) {
  for (guint i = 0; i < bundle->pools->len; i++) {
    const PawlPoolSpec *spec = g_ptr_array_index(bundle->pools, i);
    if (g_str_equal(spec->name, name)) return spec;
  }
  return NULL;
}

static gboolean add_pool(PawlPublish *publish, const char *name, const char *owner_mark, gint slots, GError **error) {
  if (publish->options->dry_run) return TRUE;
  PawlStore *store = publish->store;
  PawlId id = pawl_id_new(publish->now_ms);
  g_autofree char *text = g_strdup_printf("%d", slots);
  return pawl_db_exec(store->db, PAWL_SQL_POOL_INSERT, NULL, error,
           PAWL_ROW(pawl_id(&id), pawl_id(&publish->project), pawl_text(name), pawl_text(owner_mark), PAWL_INT(slots))) &&
         pawl_db_exec(store->db, PAWL_SQL_POOL_GATE_INSERT, NULL, error, PAWL_ROW(pawl_id(&id))) &&
         pawl_store_act(store, &id, "pool.published", error, "slots", text, NULL);
}

static gboolean set_pool(
  PawlPublish *publish, const PawlStoredPool *pool, const char *owner_mark, gint slots, const char *state, GError **error) {
  if (publish->options->dry_run) return TRUE;
  PawlStore *store = publish->store;
  g_autofree char *text = g_strdup_printf("%d", slots);
  return pawl_db_exec(store->db, PAWL_SQL_POOL_GATE_BUMP, NULL, error, PAWL_ROW(pawl_id(&pool->id))) &&
         pawl_db_exec(store->db, PAWL_SQL_POOL_PUBLISH, NULL, error,
           PAWL_ROW(pawl_id(&pool->id), pawl_text(owner_mark), PAWL_INT(slots), pawl_text(state))) &&
         pawl_store_act(store, &pool->id, "pool.published", error, "slots", text, NULL);
}

static void note_overrides(PawlPublish *publish, const PawlStoredPool *pool, gint slots) {
  gboolean stopped = g_str_equal(pool->state, "paused");
  if (!pool->overridden && !stopped) return;
  PawlChange *note = pawl_publish_change(publish, PAWL_CHANGE_NOTE, "pool %s", pool->name);
  if (pool->overridden) pawl_change_line(note, "slots: %d, set at run time, stays (the file says %d)", pool->slots_override, slots);
  if (stopped) pawl_change_line(note, "stays %s", pool->state);
}

static gboolean edit_pool(PawlPublish *publish, const PawlStoredPool *pool, const PawlPoolSpec *spec, GError **error) {
  const char *mark = publish->options->owner_mark;
  gboolean foreign = pool->owner_mark != NULL && !g_str_equal(pool->owner_mark, mark);
  if (pool->slots == spec->slots && (!foreign || !publish->options->adopt)) {
    pawl_publish_change(publish, PAWL_CHANGE_SAME, "pool %s", spec->name);
    note_overrides(publish, pool, spec->slots);
    return pool->owner_mark != NULL || set_pool(publish, pool, mark, spec->slots, pool->state, error);
  }
  if (foreign && !publish->options->adopt) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT,
      "pool '%s' belongs to %s, where it has %d slots and not %d; change it there, or apply with --adopt", pool->name, pool->owner_mark,
      pool->slots, spec->slots);
    return FALSE;
  }
  PawlChange *change = pawl_publish_change(publish, PAWL_CHANGE_EDIT, "pool %s", spec->name);
  if (pool->slots != spec->slots) pawl_change_line(change, "slots: %d -> %d", pool->slots, spec->slots);
  if (foreign) pawl_change_line(change, "owner: %s -> %s", pool->owner_mark, mark);
  note_overrides(publish, pool, spec->slots);
  return set_pool(publish, pool, mark, spec->slots, pool->state, error);
}

gboolean pawl_publish_pools(PawlPublish *publish, GError **error) {
  const char *mark = publish->options->owner_mark;
  for (guint i = 0; i < publish->bundle->pools->len; i++) {
    const PawlPoolSpec *spec = g_ptr_array_index(publish->bundle->pools, i);
    const PawlStoredPool *pool = g_hash_table_lookup(publish->pools, spec->name);
    if (pool != NULL && !pawl_stored_pool_goes(pool)) {
      if (!edit_pool(publish, pool, spec, error)) return FALSE;
      continue;
    }
    PawlChange *change = pawl_publish_change(publish, PAWL_CHANGE_ADD, "pool %s", spec->name);
    pawl_change_line(change, "slots: %d", spec->slots);
    if (pool == NULL ? !add_pool(publish, spec->name, mark, spec->slots, error)
                     : !set_pool(publish, pool, mark, spec->slots, "active", error))
      return FALSE;
  }
  if (g_hash_table_contains(publish->pools, DEFAULT_POOL) || wanted_pool(publish->bundle, DEFAULT_POOL) != NULL) return TRUE;
  return add_pool(publish, DEFAULT_POOL, NULL, -1, error);
}

static gboolean in_bundle(const PawlPublish *publish, const char *task) {
  for (guint i = 0; i < publish->bundle->tasks->len; i++) {
    const PawlTaskDef *def = g_ptr_array_index(publish->bundle->tasks, i);
    if (g_str_equal(def->name, task)) return TRUE;
  }
  return FALSE;
}

/* Tasks outside the bundle that stay and whose runs would go to the pool. */
static gboolean stored_users(PawlPublish *publish, const char *pool, GPtrArray *names, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_POOL_TASK_SPECS, error, PAWL_ROW(pawl_id(&publish->project)));
  if (rows == NULL) return FALSE;
  while (why == NULL && pawl_rows_next(rows, &why)) {
    const char *name = pawl_rows_text(rows, 0);
    const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, name);
    gboolean goes = task != NULL && publish->options->prune && g_strcmp0(task->owner_mark, publish->options->owner_mark) == 0;
    if (goes || in_bundle(publish, name) || g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) continue;
    g_autoptr(PawlTaskSpec) spec = pawl_task_spec_from_stored(pawl_rows_text(rows, 1), &why);
    if (spec != NULL && g_str_equal(spec->pool, pool)) g_ptr_array_add(names, g_strdup(name));
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* Tasks of the bundle whose triggers pin a stored revision that names the pool. */
static gboolean pinned_users(PawlPublish *publish, const char *pool, GPtrArray *names, GError **error) {
  for (guint i = 0; i < publish->bundle->tasks->len; i++) {
    const PawlTaskDef *def = g_ptr_array_index(publish->bundle->tasks, i);
    const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, def->name);
    gboolean uses = g_str_equal(def->spec->pool, pool);
    for (guint j = 0; !uses && task != NULL && j < def->triggers->len; j++) {
      const PawlTriggerDef *trigger = g_ptr_array_index(def->triggers, j);
      gint pin = trigger->spec->task_revision;
      if (pin == 0 || pin > task->revision) continue;
      g_autofree char *json = pawl_publish_json(publish->store, PAWL_SQL_SPEC_TASK, &task->id, pin, error);
      g_autoptr(PawlTaskSpec) spec = json != NULL ? pawl_task_spec_from_stored(json, error) : NULL;
      if (spec == NULL) return FALSE;
      uses = g_str_equal(spec->pool, pool);
    }
    if (uses) g_ptr_array_add(names, g_strdup(def->name));
  }
  return TRUE;
}

static char *joined(GPtrArray *names) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < names->len && i < 5; i++) g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (char *)names->pdata[i]);
  if (names->len > 5) g_string_append(text, " …");
  return g_strdup(text->str);
}

/* Tasks with unfinished runs that stand in the pool and stay there. Waiting ones do not where the task goes or goes to another pool:
 * these are cancelled or moved. */
static gboolean unfinished_names(PawlPublish *publish, const PawlStoredPool *pool, GPtrArray *names, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(publish->store->db, PAWL_SQL_POOL_UNFINISHED, error, PAWL_ROW(pawl_id(&pool->id)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    const char *name = pawl_rows_text(rows, 0);
    const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, name);
    gboolean goes = task != NULL && g_strcmp0(task->owner_mark, publish->options->owner_mark) == 0;
    if (pawl_rows_int(rows, 1) != 0 || !(goes || in_bundle(publish, name))) g_ptr_array_add(names, g_strdup(name));
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* Takes no new runs and goes at a later publication. At start-up, where refusing would keep those runs from ever ending. */
static gboolean drain_pool(PawlPublish *publish, const PawlStoredPool *pool, const char *who /* NULL: not known */, GError **error) {
  PawlChange *note = pawl_publish_change(publish, PAWL_CHANGE_NOTE, "pool %s", pool->name);
  pawl_change_line(
    note, "gone from the file; it is removed once its unfinished runs%s%s have ended", who != NULL ? " of " : "", who != NULL ? who : "");
  return g_str_equal(pool->state, "draining") || set_pool(publish, pool, pool->owner_mark, pool->slots, "draining", error);
}

static gboolean remove_pool(PawlPublish *publish, const PawlStoredPool *pool, GError **error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  gint64 changed = 0;
  if (!stored_users(publish, pool->name, names, error) || !pinned_users(publish, pool->name, names, error)) return FALSE;
  g_autofree char *users = joined(names);
  if (names->len > 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "pool '%s' is gone from the file but still used by %s", pool->name, users);
    return FALSE;
  }
  if (!unfinished_names(publish, pool, names, error)) return FALSE;
  g_autofree char *who = joined(names);
  if (names->len > 0 && publish->options->starting) return drain_pool(publish, pool, who, error);
  if (names->len > 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT,
      "pool '%s' is gone from the file but has unfinished runs of %s; wait for them or cancel them first", pool->name, who);
    return FALSE;
  }
  if (!publish->options->dry_run && !pawl_db_exec(publish->store->db, PAWL_SQL_POOL_REMOVE, &changed, error, PAWL_ROW(pawl_id(&pool->id))))
    return FALSE;
  if (!publish->options->dry_run && changed == 0) return drain_pool(publish, pool, NULL, error);
  pawl_publish_change(publish, PAWL_CHANGE_REMOVE, "pool %s", pool->name);
  return publish->options->dry_run || pawl_store_act(publish->store, &pool->id, "pool.deleted", error, NULL);
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return g_strcmp0((*(const PawlStoredPool *const *)a)->name, (*(const PawlStoredPool *const *)b)->name);
}

gboolean pawl_publish_pools_gone(PawlPublish *publish, GError **error) {
  if (!publish->options->prune) return TRUE;
  g_autoptr(GPtrArray) pools = pawl_publish_values(publish->pools);
  g_ptr_array_sort(pools, by_name);
  for (guint i = 0; i < pools->len; i++) {
    const PawlStoredPool *pool = g_ptr_array_index(pools, i);
    if (g_strcmp0(pool->owner_mark, publish->options->owner_mark) != 0 || wanted_pool(publish->bundle, pool->name) != NULL ||
        g_str_equal(pool->state, "deleted"))
      continue;
    if (!g_str_equal(pool->name, DEFAULT_POOL)) {
      if (!remove_pool(publish, pool, error)) return FALSE;
      continue;
    }
    PawlChange *change = pawl_publish_change(publish, PAWL_CHANGE_EDIT, "pool %s", pool->name);
    pawl_change_line(change, "slots: %d -> -1", pool->slots);
    if (!set_pool(publish, pool, NULL, -1, pool->state, error)) return FALSE;
  }
  return TRUE;
}
