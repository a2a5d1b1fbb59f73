/* SPDX-License-Identifier: Apache-2.0 */
/* An occurrence that is due in the very moment in which its timing is edited belongs to the scheduler: it is given up to two seconds to
 * settle it, before the publication takes the write lock. What is still unsettled then goes to the ledger as `superseded`. */
#include "base/clock.h"
#include "store/publish_private.h"

#define WAIT_MS (2 * PAWL_SECOND_MS)
#define LOOK_EVERY_US 10000

typedef struct {
  PawlId trigger;
  gint64 cursor_ms;
} Unsettled;

static gboolean timing_changes(PawlPublish *publish, const PawlTaskDef *task, const PawlTriggerDef *def, const PawlStoredTrigger *trigger,
  gboolean *ret_changes, GError **error) {
  g_autofree char *json = pawl_publish_json(publish->store, PAWL_SQL_SPEC_TRIGGER, &trigger->id, trigger->revision, error);
  if (json == NULL) return FALSE;
  g_autoptr(PawlTriggerSpec) old = pawl_trigger_spec_from_stored(json, publish->bundle->project, task->name, def->name, error);
  if (old == NULL) return FALSE;
  *ret_changes = !pawl_timing_same(old, def->spec) || old->enabled != def->spec->enabled;
  return TRUE;
}

static gboolean collect_task(PawlPublish *publish, const PawlTaskDef *def, GArray *unsettled, GError **error) {
  const PawlStoredTask *task = g_hash_table_lookup(publish->tasks, def->name);
  for (guint i = 0; task != NULL && i < def->triggers->len; i++) {
    const PawlTriggerDef *trigger_def = g_ptr_array_index(def->triggers, i);
    const PawlStoredTrigger *trigger = pawl_stored_trigger(task, trigger_def->name);
    gboolean changes = FALSE;
    if (trigger == NULL || !trigger->armed || trigger->due_at_ms > publish->now_ms || g_str_equal(trigger->digest, trigger_def->digest))
      continue;
    if (!timing_changes(publish, def, trigger_def, trigger, &changes, error)) return FALSE;
    Unsettled row = {trigger->id, trigger->cursor_ms};
    if (changes) g_array_append_val(unsettled, row);
  }
  return TRUE;
}

static gboolean collect(PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options, GArray *unsettled, GError **error) {
  g_auto(PawlPublish) publish = {0};
  pawl_publish_init(&publish, store, bundle, options);
  if (!pawl_db_begin(store->db, PAWL_TX_READ, error)) return FALSE;
  gboolean ok = pawl_publish_load(&publish, error);
  for (guint i = 0; ok && i < bundle->tasks->len; i++) ok = collect_task(&publish, g_ptr_array_index(bundle->tasks, i), unsettled, error);
  pawl_db_rollback(store->db);
  return ok;
}

static gboolean still_unsettled(PawlStore *store, const Unsettled *row, gboolean *ret_unsettled, GError **error) {
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(store, &row->trigger, &schedule, error)) return FALSE;
  *ret_unsettled = schedule.armed && schedule.cursor_ms == row->cursor_ms;
  return TRUE;
}

gboolean pawl_publish_wait(PawlStore *store, const PawlBundle *bundle, const PawlApplyOptions *options, GError **error) {
  if (!store->shared && pawl_db_holder(store->db) == 0) return TRUE; /* nobody schedules */
  g_autoptr(GArray) unsettled = g_array_new(FALSE, FALSE, sizeof(Unsettled));
  if (!collect(store, bundle, options, unsettled, error)) return FALSE;
  gint64 deadline_ms = pawl_clock_mono_ms() + WAIT_MS;
  while (unsettled->len > 0) {
    gboolean waits = TRUE;
    if (!still_unsettled(store, &g_array_index(unsettled, Unsettled, unsettled->len - 1), &waits, error)) return FALSE;
    if (!waits)
      g_array_set_size(unsettled, unsettled->len - 1);
    else if (pawl_clock_mono_ms() >= deadline_ms)
      break;
    else
      g_usleep(LOOK_EVERY_US);
  }
  return TRUE;
}
