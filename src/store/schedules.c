/* SPDX-License-Identifier: Apache-2.0 */
/* Quarantine, what is armed again, and @reboot. */
#include "store/schedules.h"

#include "base/error.h"
#include "store/store_private.h"

#include <string.h>

gboolean pawl_store_quarantine(PawlStore *store, const PawlDueRow *row, const char *reason, GError **error) {
  gint64 changed = 0;
  g_autoptr(json_t) data = json_object();
  pawl_json_set_text(data, "reason", reason);
  pawl_json_set_instant(data, "occurrence", row->cursor_ms);
  g_autofree char *text = pawl_json_canonical(data);
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!pawl_db_exec(store->db, PAWL_SQL_QUARANTINE_SET, &changed, error,
        PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->state_version), pawl_text(reason))) ||
      (changed > 0 && !pawl_store_event(store, &row->trigger, "trigger.quarantined", 0, 0, text, error))) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}

gboolean pawl_store_rearm(PawlStore *store, gint64 *ret_next_ms, GError **error) {
  gint64 next_ms, now_ms;
  if (!pawl_store_int(store, PAWL_SQL_REARM_NEXT, &next_ms, error, PAWL_NO_PARAMS) || !pawl_store_now(store, &now_ms, error)) return FALSE;
  if (next_ms != 0 && next_ms <= now_ms) {
    if (!pawl_store_resume_expired(store, error) || !pawl_db_exec(store->db, PAWL_SQL_REARM_QUARANTINED, NULL, error, PAWL_NO_PARAMS) ||
        !pawl_store_int(store, PAWL_SQL_REARM_NEXT, &next_ms, error, PAWL_NO_PARAMS))
      return FALSE;
    if (next_ms != 0 && next_ms <= now_ms) next_ms = 0; /* a quarantine below a pause: its end is looked at when the pause ends */
  }
  *ret_next_ms = next_ms;
  return TRUE;
}

/* ---- @reboot ---- */

typedef struct {
  PawlId trigger, task, project;
  gint64 trigger_revision, task_revision, state_version, last_admitted_ms;
} RebootRow;

static gboolean read_reboot(PawlStore *store, gint64 boot_at_ms, GArray *found, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_REBOOT_TRIGGERS, error, PAWL_ROW(PAWL_INT(boot_at_ms)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    RebootRow row = {pawl_rows_id(rows, 0), pawl_rows_id(rows, 1), pawl_rows_id(rows, 2), pawl_rows_int(rows, 3), pawl_rows_int(rows, 4),
      pawl_rows_int(rows, 5), pawl_rows_int(rows, 6)};
    g_array_append_val(found, row);
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

static gboolean fire_reboot_row(PawlStore *store, const RebootRow *row, gint64 boot_at_ms, gboolean *ret_fired, GError **error) {
  gint64 now_ms, changed = 0;
  const PawlTaskSpec *task = pawl_store_task_spec(store, &row->task, row->task_revision, error);
  const PawlTriggerSpec *trigger = task != NULL ? pawl_store_trigger_spec(store, &row->trigger, row->trigger_revision, error) : NULL;
  if (trigger == NULL || !pawl_store_now(store, &now_ms, error)) return FALSE;
  PawlNewRun run = {.id = pawl_id_derive(&row->trigger, boot_at_ms),
    .project = row->project,
    .task = row->task,
    .task_revision = row->task_revision,
    .trigger = &row->trigger,
    .trigger_revision = row->trigger_revision,
    .origin = "schedule",
    .nominal_at_ms = boot_at_ms,
    .queued_at_ms = now_ms,
    .priority = task->priority,
    .slots = task->slots,
    .trigger_born = TRUE,
    .input = trigger->input};
  return pawl_store_pool_id(store, &row->project, task->pool, &run.pool, error) && pawl_store_run_create(store, &run, ret_fired, error) &&
         pawl_db_exec(store->db, PAWL_SQL_REBOOT_MARK, &changed, error,
           PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->state_version), PAWL_INT(boot_at_ms)));
}

/* `boot_at_ms` is computed from the wall clock and the time since boot, so it wanders by clock steps; what is compared is the boot id,
 * and the instant that was stored with it stays this boot's nominal time. */
static gboolean boot_instant(PawlStore *store, const char *boot_id, gint64 *boot_at_ms, GError **error) {
  GError *failed = NULL;
  g_autofree char *known = pawl_store_meta_get(store, "boot", &failed);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (known != NULL && g_str_has_prefix(known, boot_id)) {
    *boot_at_ms = g_ascii_strtoll(known + strlen(boot_id) + 1, NULL, 10);
    return TRUE;
  }
  /* a new boot is later than the last one, whatever the clock says */
  const char *last = known != NULL ? strchr(known, ' ') : NULL;
  if (last != NULL) *boot_at_ms = MAX(*boot_at_ms, g_ascii_strtoll(last + 1, NULL, 10) + 1);
  g_autofree char *text = g_strdup_printf("%s %" G_GINT64_FORMAT, boot_id, *boot_at_ms);
  return pawl_store_meta_set(store, "boot", text, error);
}

gboolean pawl_store_fire_reboot(PawlStore *store, const char *boot_id, gint64 boot_at_ms, guint *ret_fired, GError **error) {
  guint fired = 0;
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(RebootRow));
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = boot_instant(store, boot_id, &boot_at_ms, error) && read_reboot(store, boot_at_ms, found, error);
  for (guint i = 0; ok && i < found->len; i++) {
    g_autoptr(GError) failed = NULL;
    gboolean created = FALSE;
    ok = fire_reboot_row(store, &g_array_index(found, RebootRow, i), boot_at_ms, &created, &failed) || !pawl_error_info_of(failed)->retry;
    if (!ok) g_propagate_error(error, g_steal_pointer(&failed)); /* else: one damaged row holds up nobody else */
    fired += created;
  }
  if (!ok) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_fired = fired;
  return TRUE;
}
