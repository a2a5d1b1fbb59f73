/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting archives: ids, high-water marks, revisions and history stay, so that what comes back under the same name cannot run an instant
 * twice (G1). */
#include "base/error.h"
#include "store/publish_private.h"

gboolean pawl_store_remove_trigger(PawlStore *store, const PawlId *trigger, gint64 now_ms, GError **error) {
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(store, trigger, &schedule, error)) return FALSE;
  if (schedule.cursor_ms != 0 && schedule.cursor_ms <= now_ms) {
    g_autoptr(PawlTriggerSpec) spec = pawl_schedule_spec(store, trigger, schedule.trigger_revision, error);
    if (spec == NULL || !pawl_schedule_pass_over(store, &schedule, spec, now_ms, "archived", NULL, error)) return FALSE;
  }
  pawl_schedule_clear(&schedule);
  schedule.cursor_ms = schedule.due_at_ms = schedule.first_claimed_ms = schedule.made_up = 0;
  schedule.paused_at_ms = schedule.pause_until_ms = 0;
  schedule.armed = FALSE;
  schedule.clear_quarantine = TRUE;
  return pawl_schedule_write(store, &schedule, error) &&
         pawl_db_exec(store->db, PAWL_SQL_TRIGGER_ARCHIVE, NULL, error, PAWL_ROW(pawl_id(trigger))) &&
         pawl_store_act(store, trigger, "trigger.deleted", error, NULL);
}

gboolean pawl_store_remove_task(PawlStore *store, const PawlId *task, gint64 now_ms, GError **error) {
  g_autoptr(GArray) triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_SCHEDULES_OF_TASK, triggers, error, PAWL_ROW(pawl_id(task)))) return FALSE;
  for (guint i = 0; i < triggers->len; i++)
    if (!pawl_store_remove_trigger(store, &g_array_index(triggers, PawlId, i), now_ms, error)) return FALSE;
  return pawl_db_exec(store->db, PAWL_SQL_TASK_ARCHIVE, NULL, error, PAWL_ROW(pawl_id(task))) &&
         pawl_store_act(store, task, "task.deleted", error, NULL);
}

/* One trigger less: the task may not need to run one at a time any more. */
static gboolean refresh_serial(PawlStore *store, const PawlId *task, GError **error) {
  gboolean serial = FALSE;
  gint64 changed = 0;
  g_autoptr(GArray) triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_SCHEDULES_OF_TASK, triggers, error, PAWL_ROW(pawl_id(task)))) return FALSE;
  for (guint i = 0; i < triggers->len && !serial; i++) {
    g_auto(PawlSchedule) schedule = {0};
    if (!pawl_schedule_read(store, &g_array_index(triggers, PawlId, i), &schedule, error)) return FALSE;
    g_autoptr(PawlTriggerSpec) spec = pawl_schedule_spec(store, &schedule.trigger, schedule.trigger_revision, error);
    if (spec == NULL) return FALSE;
    serial = spec->overlap != PAWL_OVERLAP_ALLOW;
  }
  if (!pawl_db_exec(store->db, PAWL_SQL_TASK_SERIAL, &changed, error, PAWL_ROW(pawl_id(task), PAWL_INT(serial)))) return FALSE;
  if (changed == 0) return TRUE;
  return pawl_db_exec(store->db, PAWL_SQL_TASK_GATE_BUMP, NULL, error, PAWL_ROW(pawl_id(task))) &&
         pawl_store_task_release(store, task, error);
}

static gboolean delete_inside(
  PawlStore *store, const char *project, const char *reference, PawlRef *ref, guint *ret_cancelled, GError **error) {
  gint64 now_ms;
  gboolean more;
  if (!pawl_store_lookup(store, project, reference, FALSE, ref, error) || !pawl_lock_task(store, &ref->task, error) ||
      !pawl_store_now(store, &now_ms, error))
    return FALSE;
  if (ref->trigger_name != NULL)
    return pawl_store_remove_trigger(store, &ref->trigger, now_ms, error) && refresh_serial(store, &ref->task, error);
  return pawl_store_remove_task(store, &ref->task, now_ms, error) &&
         pawl_store_cancel_some(store, &ref->task, "the task was deleted", PAWL_CANCEL_AT_ONCE, ret_cancelled, &more, error);
}

gboolean pawl_store_delete(PawlStore *store, const char *project, const char *reference, guint *ret_cancelled, GError **error) {
  g_auto(PawlRef) ref = {0};
  guint cancelled = 0;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!delete_inside(store, project, reference, &ref, &cancelled, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  if (ref.trigger_name == NULL && !pawl_store_cancel_rest(store, &ref.task, "the task was deleted", &cancelled, error)) return FALSE;
  *ret_cancelled = cancelled;
  return TRUE;
}
