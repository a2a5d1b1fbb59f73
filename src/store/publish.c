/* SPDX-License-Identifier: Apache-2.0 */
#include "store/publish.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/publish_private.h"

void pawl_change_free(PawlChange *change) {
  g_free(change->object);
  g_ptr_array_unref(change->lines);
  g_free(change);
}

PawlChange *pawl_publish_change(PawlPublish *publish, PawlChangeKind kind, const char *format, ...) {
  PawlChange *change = g_new0(PawlChange, 1);
  va_list args;
  va_start(args, format);
  change->kind = kind;
  change->object = g_strdup_vprintf(format, args);
  change->lines = g_ptr_array_new_with_free_func(g_free);
  va_end(args);
  g_ptr_array_add(publish->changes, change);
  return change;
}

void pawl_change_line(PawlChange *change, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(change->lines, g_strdup_vprintf(format, args));
  va_end(args);
}

static gboolean make_project(PawlPublish *publish, GError **error) {
  if (!publish->project_new) return TRUE;
  return pawl_db_exec(
    publish->store->db, PAWL_SQL_PROJECT_INSERT, NULL, error, PAWL_ROW(pawl_id(&publish->project), pawl_text(publish->bundle->project)));
}

/* Runs of removed tasks: as many as fit are cancelled in the same transaction. */
static gboolean cancel_removed(PawlPublish *publish, GError **error) {
  guint left = PAWL_CANCEL_AT_ONCE;
  for (guint i = 0; i < publish->removed->len && left > 0; i++) {
    guint cancelled = 0;
    gboolean more;
    if (!pawl_store_cancel_some(
          publish->store, &g_array_index(publish->removed, PawlId, i), "the task was deleted", left, &cancelled, &more, error))
      return FALSE;
    left -= MIN(left, cancelled);
  }
  return TRUE;
}

/* Publications of one project wait for each other, and for the admissions under way on its schedules. */
static gboolean lock_all(PawlPublish *publish, GError **error) {
  PawlStore *store = publish->store;
  PawlId project = pawl_id_new(pawl_clock_wall_ms());
  if (!store->shared || publish->options->dry_run) return TRUE;
  return pawl_db_exec(store->db, PAWL_SQL_PROJECT_INSERT, NULL, error, PAWL_ROW(pawl_id(&project), pawl_text(publish->bundle->project))) &&
         pawl_lock_project(store, publish->bundle->project, error) &&
         pawl_store_lookup_project(store, publish->bundle->project, &project, error) && pawl_lock_schedules(store, &project, error);
}

static gboolean publish_all(PawlPublish *publish, GError **error) {
  gboolean write = !publish->options->dry_run;
  return lock_all(publish, error) && pawl_publish_load(publish, error) && (!write || make_project(publish, error)) &&
         pawl_publish_pools(publish, error) && pawl_publish_tasks(publish, error) && pawl_publish_tasks_gone(publish, error) &&
         (!write || cancel_removed(publish, error)) && pawl_publish_pools_gone(publish, error);
}

gboolean pawl_store_apply(PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options, GPtrArray *changes, GError **error) {
  g_auto(PawlPublish) publish = {0};
  pawl_publish_init(&publish, store, bundle, options);
  if (!options->dry_run && !options->starting && !pawl_publish_wait(store, bundle, options, error)) return FALSE;
  if (!pawl_db_begin(store->db, options->dry_run ? PAWL_TX_READ : PAWL_TX_WRITE, error)) return FALSE;
  if (!publish_all(&publish, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  PAWL_FAULT("publish.before_commit");
  if (!pawl_db_commit(store->db, error)) return FALSE;
  PAWL_FAULT("publish.after_commit");
  for (guint i = 0; !options->dry_run && i < publish.removed->len; i++) {
    guint cancelled = 0;
    if (!pawl_store_cancel_rest(store, &g_array_index(publish.removed, PawlId, i), "the task was deleted", &cancelled, error)) return FALSE;
  }
  g_ptr_array_extend_and_steal(changes, g_steal_pointer(&publish.changes));
  return TRUE;
}
