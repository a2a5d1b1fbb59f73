/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "store/publish_private.h"

#include <string.h>

static gboolean is_serial(const PawlTaskDef *def) {
  for (guint i = 0; i < def->triggers->len; i++) {
    const PawlTriggerDef *trigger = g_ptr_array_index(def->triggers, i);
    if (trigger->spec->overlap != PAWL_OVERLAP_ALLOW) return TRUE;
  }
  return FALSE;
}

static gboolean is_foreign(const PawlPublish *publish, const PawlStoredTask *task) {
  return task != NULL && !task->archived && task->owner_mark != NULL && !g_str_equal(task->owner_mark, publish->options->owner_mark);
}

/* All tasks that another mark owns, in one message. */
static gboolean check_owners(PawlPublish *publish, GError **error) {
  g_autoptr(GString) names = g_string_new(NULL);
  const char *owner = NULL;
  guint n = 0;
  for (guint i = 0; i < publish->bundle->tasks->len && !publish->options->adopt; i++) {
    const PawlTaskDef *def = g_ptr_array_index(publish->bundle->tasks, i);
    const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, def->name);
    if (!is_foreign(publish, task)) continue;
    owner = task->owner_mark;
    if (n < 5) g_string_append_printf(names, "%s'%s' (of %s)", n > 0 ? ", " : "", def->name, owner);
    n++;
  }
  if (n == 0) return TRUE;
  if (n > 5) g_string_append_printf(names, " and %u more", n - 5);
  g_set_error(
    error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "owned by another file: task %s; rename, remove it there, or apply with --adopt", names->str);
  return FALSE;
}

static gboolean check_pool(PawlPublish *publish, const PawlTaskDef *def, GError **error) {
  const char *pool = def->spec->pool;
  const PawlStoredPool *stored = g_hash_table_lookup(publish->pools, pool);
  if (g_str_equal(pool, "default") || (stored != NULL && !pawl_stored_pool_goes(stored))) return TRUE;
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < publish->bundle->pools->len; i++) {
    const PawlPoolSpec *spec = g_ptr_array_index(publish->bundle->pools, i);
    if (g_str_equal(spec->name, pool)) return TRUE;
    g_ptr_array_add(names, spec->name);
  }
  const char *nearest = pawl_nearest(pool, names);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "task '%s': there is no pool '%s'%s%s%s", def->name, pool,
    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "; declare it under `pools:`");
  return FALSE;
}

static gboolean check_pins(const PawlTaskDef *def, gint64 revision, GError **error) {
  for (guint i = 0; i < def->triggers->len; i++) {
    const PawlTriggerDef *trigger = g_ptr_array_index(def->triggers, i);
    if (trigger->spec->task_revision <= revision) continue;
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "trigger '%s/%s' pins revision %d of its task, whose newest is %" G_GINT64_FORMAT,
      def->name, trigger->name, trigger->spec->task_revision, revision);
    return FALSE;
  }
  return TRUE;
}

typedef struct {
  PawlId id;
  gint64 revision;
  gboolean new_revision, serial;
} TaskPlan;

static gboolean write_task(PawlPublish *publish, const PawlTaskDef *def, const PawlStoredTask *task, const TaskPlan *plan, GError **error) {
  PawlDb *db = publish->store->db;
  const char *mark = publish->options->owner_mark;
  PawlValue now = PAWL_INT(publish->now_ms), id = pawl_id(&plan->id), digest = pawl_text(def->digest);
  if (task == NULL) {
    if (!pawl_db_exec(db, PAWL_SQL_TASK_INSERT, NULL, error,
          PAWL_ROW(id, pawl_id(&publish->project), pawl_text(def->name), pawl_text(mark), digest, PAWL_INT(def->spec->max_active),
            PAWL_INT(plan->serial), now)) ||
        !pawl_db_exec(db, PAWL_SQL_TASK_GATE_INSERT, NULL, error, PAWL_ROW(id)))
      return FALSE;
  } else {
    gboolean limits = task->max_active != def->spec->max_active || task->serial != plan->serial;
    if ((limits && !pawl_db_exec(db, PAWL_SQL_TASK_GATE_BUMP, NULL, error, PAWL_ROW(id))) ||
        !pawl_db_exec(db, PAWL_SQL_TASK_PUBLISH, NULL, error,
          PAWL_ROW(id, pawl_text(mark), PAWL_INT(plan->revision), digest, PAWL_INT(def->spec->max_active), PAWL_INT(plan->serial), now)) ||
        (limits && !pawl_store_task_release(publish->store, &plan->id, error)))
      return FALSE;
  }
  if (!plan->new_revision) return TRUE;
  g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, plan->revision);
  return pawl_db_exec(
           db, PAWL_SQL_TASK_REVISION_INSERT, NULL, error, PAWL_ROW(id, PAWL_INT(plan->revision), digest, pawl_text(def->json), now)) &&
         pawl_store_act(publish->store, &plan->id, "task.published", error, "revision", text, "file", mark, NULL);
}

/* Says what happens to the task. FALSE in *ret_write: nothing has to be written. */
static gboolean tell_task(
  PawlPublish *publish, const PawlTaskDef *def, const PawlStoredTask *task, const TaskPlan *plan, gboolean *ret_write, GError **error) {
  *ret_write = TRUE;
  if (task == NULL || task->archived) {
    pawl_publish_change(publish, PAWL_CHANGE_ADD, "task %s", def->name);
    return TRUE;
  }
  gboolean owner = g_strcmp0(task->owner_mark, publish->options->owner_mark) != 0;
  gboolean limits = task->max_active != def->spec->max_active || task->serial != plan->serial;
  if (plan->new_revision || owner) {
    PawlChange *change = pawl_publish_change(publish, PAWL_CHANGE_EDIT, "task %s", def->name);
    if (owner)
      pawl_change_line(change, "owner: %s -> %s", task->owner_mark != NULL ? task->owner_mark : "none", publish->options->owner_mark);
    if (plan->new_revision) {
      g_autofree char *before = pawl_publish_json(publish->store, PAWL_SQL_SPEC_TASK, &task->id, task->revision, error);
      if (before == NULL) return FALSE;
      pawl_change_diff(change, before, def->json);
    }
  } else {
    pawl_publish_change(publish, PAWL_CHANGE_SAME, "task %s", def->name);
    *ret_write = limits;
  }
  g_autofree char *object = g_strdup_printf("task %s", def->name);
  pawl_publish_note_pause(publish, &task->pause, object);
  return TRUE;
}

/* What waits goes along when the task goes to another pool. */
static gboolean move_waiting(PawlPublish *publish, const PawlTaskDef *def, const TaskPlan *plan, GError **error) {
  PawlStore *store = publish->store;
  PawlId pool;
  gint64 moved;
  if (!pawl_store_pool_id(store, &publish->project, def->spec->pool, &pool, error)) return FALSE;
  if (store->shared) return pawl_store_int(store, PAWL_SQL_TASK_MOVE_RUNS, &moved, error, PAWL_ROW(pawl_id(&plan->id), pawl_id(&pool)));
  return pawl_db_exec(store->db, PAWL_SQL_POOL_MOVE_READY, NULL, error, PAWL_ROW(pawl_id(&plan->id), pawl_id(&pool))) &&
         pawl_db_exec(store->db, PAWL_SQL_POOL_MOVE_PARKED, NULL, error, PAWL_ROW(pawl_id(&plan->id), pawl_id(&pool)));
}

static gboolean publish_task(PawlPublish *publish, const PawlTaskDef *def, GError **error) {
  const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, def->name);
  TaskPlan plan = {.serial = is_serial(def)};
  gboolean write;
  plan.new_revision = task == NULL || !g_str_equal(task->digest, def->digest);
  plan.id = task != NULL ? task->id : pawl_id_new(publish->now_ms);
  plan.revision = task == NULL ? 1 : task->revision + (plan.new_revision ? 1 : 0);
  if (!check_pool(publish, def, error) || !check_pins(def, plan.revision, error)) return FALSE;
  if (!tell_task(publish, def, task, &plan, &write, error)) return FALSE;
  if (write && !publish->options->dry_run && !write_task(publish, def, task, &plan, error)) return FALSE;
  if (!pawl_publish_triggers(publish, def, task, &plan.id, plan.revision, plan.new_revision, error)) return FALSE;
  return publish->options->dry_run || task == NULL || !plan.new_revision || move_waiting(publish, def, &plan, error);
}

gboolean pawl_publish_tasks(PawlPublish *publish, GError **error) {
  if (!check_owners(publish, error)) return FALSE;
  for (guint i = 0; i < publish->bundle->tasks->len; i++)
    if (!publish_task(publish, g_ptr_array_index(publish->bundle->tasks, i), error)) return FALSE;
  return TRUE;
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return g_strcmp0((*(const PawlStoredTask *const *)a)->name, (*(const PawlStoredTask *const *)b)->name);
}

gboolean pawl_publish_tasks_gone(PawlPublish *publish, GError **error) {
  if (!publish->options->prune) return TRUE;
  g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < publish->bundle->tasks->len; i++)
    g_hash_table_add(kept, ((PawlTaskDef *)g_ptr_array_index(publish->bundle->tasks, i))->name);
  g_autoptr(GPtrArray) tasks = pawl_publish_values(publish->tasks);
  g_ptr_array_sort(tasks, by_name);
  for (guint i = 0; i < tasks->len; i++) {
    const PawlStoredTask *task = g_ptr_array_index(tasks, i);
    if (task->archived || g_strcmp0(task->owner_mark, publish->options->owner_mark) != 0 || g_hash_table_contains(kept, task->name))
      continue;
    pawl_publish_change(publish, PAWL_CHANGE_REMOVE, "task %s", task->name);
    for (guint j = 0; j < task->triggers->len; j++) {
      const PawlStoredTrigger *trigger = g_ptr_array_index(task->triggers, j);
      if (!trigger->archived) pawl_publish_change(publish, PAWL_CHANGE_REMOVE, "trigger %s/%s", task->name, trigger->name);
    }
    if (publish->options->dry_run) continue;
    g_array_append_val(publish->removed, task->id);
    if (!pawl_store_remove_task(publish->store, &task->id, publish->now_ms, error)) return FALSE;
  }
  return TRUE;
}
