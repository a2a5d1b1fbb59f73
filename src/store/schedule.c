/* SPDX-License-Identifier: Apache-2.0 */
/* What people do to triggers moves schedules only by the steps below, so that one rule holds everywhere: a cursor never jumps over an
 * occurrence in silence.
 *
 * G2 speaks of the occurrences of an enabled trigger. A disabled one keeps its cursor, disarmed; when it is enabled again (or edited, or
 * deleted) what it passed by goes to the ledger as one range `disabled`. That is more than G2 asks for, costs one row, and answers "why
 * did nothing run last week" for a trigger that somebody had switched off. While a trigger is deleted it has no occurrences, so that
 * nothing is recorded for that time. */
#include "base/error.h"
#include "store/schedules.h"
#include "store/store_private.h"

void pawl_schedule_clear(PawlSchedule *schedule) {
  g_clear_pointer(&schedule->pause_reason, g_free);
  g_clear_pointer(&schedule->paused_by, g_free);
}

static void read_columns(PawlRows *rows, PawlSchedule *schedule) {
  schedule->task = pawl_rows_id(rows, 0);
  schedule->project = pawl_rows_id(rows, 1);
  schedule->trigger_revision = pawl_rows_int(rows, 2);
  schedule->task_revision = pawl_rows_int(rows, 3);
  schedule->armed = pawl_rows_int(rows, 4) != 0;
  schedule->cursor_ms = pawl_rows_int(rows, 5);
  schedule->due_at_ms = pawl_rows_int(rows, 6);
  schedule->last_scheduled_ms = pawl_rows_int(rows, 7);
  schedule->last_admitted_ms = pawl_rows_int(rows, 8);
  schedule->first_claimed_ms = pawl_rows_int(rows, 9);
  schedule->made_up = pawl_rows_int(rows, 10);
  schedule->state_version = pawl_rows_int(rows, 11);
  schedule->paused_at_ms = pawl_rows_int(rows, 12);
  schedule->pause_until_ms = pawl_rows_int(rows, 13);
  schedule->pause_reason = g_strdup(pawl_rows_text(rows, 14));
  schedule->paused_by = g_strdup(pawl_rows_text(rows, 15));
  schedule->quarantined = !pawl_rows_is_null(rows, 16);
  schedule->archived = !g_str_equal(pawl_rows_text(rows, 17), "active") || !g_str_equal(pawl_rows_text(rows, 18), "active");
  schedule->task_paused = !pawl_rows_is_null(rows, 19);
}

gboolean pawl_schedule_read(PawlStore *store, const PawlId *trigger, PawlSchedule *schedule, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_SCHEDULE_GET, error, PAWL_ROW(pawl_id(trigger)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &why)) {
    char text[PAWL_ID_TEXT];
    if (why == NULL) why = g_error_new(PAWL_ERROR, PAWL_ERROR_INTERNAL, "trigger %s has no schedule", pawl_id_text(trigger, text));
    g_propagate_error(error, why);
    return FALSE;
  }
  pawl_schedule_clear(schedule);
  schedule->trigger = *trigger;
  read_columns(rows, schedule);
  return TRUE;
}

PawlTriggerSpec *pawl_schedule_spec(PawlStore *store, const PawlId *trigger, gint64 revision, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_SPEC_TRIGGER, error, PAWL_ROW(pawl_id(trigger), PAWL_INT(revision)));
  if (rows == NULL) return NULL;
  if (pawl_rows_next(rows, &why))
    return pawl_trigger_spec_from_stored(
      pawl_rows_text(rows, 0), pawl_rows_text(rows, 1), pawl_rows_text(rows, 2), pawl_rows_text(rows, 3), error);
  if (why == NULL) why = g_error_new(PAWL_ERROR, PAWL_ERROR_INTERNAL, "a trigger's revision %" G_GINT64_FORMAT " is missing", revision);
  g_propagate_error(error, why);
  return NULL;
}

gboolean pawl_schedule_pass_over(PawlStore *store, PawlSchedule *schedule, const PawlTriggerSpec *spec, gint64 until_ms,
  const char *otherwise, const char *reason, GError **error) {
  PawlSpan span;
  if (schedule->cursor_ms == 0 || !pawl_span(&spec->timing, schedule->cursor_ms, until_ms, &span)) return TRUE;
  gboolean paused = schedule->paused_at_ms != 0 || schedule->task_paused;
  const char *outcome = paused ? "paused" : !spec->enabled ? "disabled" : schedule->quarantined ? "quarantined" : otherwise;
  if (!pawl_store_ledger_add(
        store, &schedule->trigger, schedule->last_admitted_ms, outcome, span.from_ms, span.to_ms, span.count, span.exact, reason, error))
    return FALSE;
  schedule->last_scheduled_ms = MAX(schedule->last_scheduled_ms, span.to_ms);
  schedule->cursor_ms = schedule->due_at_ms = schedule->first_claimed_ms = schedule->made_up = 0;
  return TRUE;
}

void pawl_schedule_aim(PawlSchedule *schedule, const PawlTriggerSpec *spec, gint64 after_ms) {
  gint64 next;
  if (!pawl_timing_next(&spec->timing, MAX(after_ms, schedule->last_scheduled_ms), &next)) next = 0;
  if (next != schedule->cursor_ms) schedule->first_claimed_ms = schedule->made_up = 0;
  schedule->cursor_ms = next;
  schedule->due_at_ms = next == 0 ? 0 : next + pawl_timing_jitter(&spec->timing, &schedule->trigger, next);
}

void pawl_schedule_arm(PawlSchedule *schedule, const PawlTriggerSpec *spec) {
  schedule->armed = schedule->cursor_ms != 0 && spec->enabled && spec->timing.kind != PAWL_TIMING_REBOOT && !schedule->archived &&
                    schedule->paused_at_ms == 0 && !schedule->task_paused && (!schedule->quarantined || schedule->clear_quarantine);
}

gboolean pawl_schedule_write(PawlStore *store, const PawlSchedule *schedule, GError **error) {
  gint64 changed = 0;
  if (!pawl_db_exec(store->db, PAWL_SQL_SCHEDULE_SET, &changed, error,
        PAWL_ROW(pawl_id(&schedule->trigger), PAWL_INT(schedule->state_version), PAWL_INT(schedule->trigger_revision),
          PAWL_INT(schedule->task_revision), PAWL_INT(schedule->armed), pawl_int_or_null(schedule->cursor_ms),
          pawl_int_or_null(schedule->due_at_ms), PAWL_INT(schedule->last_scheduled_ms), pawl_int_or_null(schedule->first_claimed_ms),
          PAWL_INT(schedule->made_up), pawl_int_or_null(schedule->paused_at_ms), pawl_int_or_null(schedule->pause_until_ms),
          pawl_text(schedule->pause_reason), pawl_text(schedule->paused_by), PAWL_INT(schedule->clear_quarantine))))
    return FALSE;
  if (changed == 1) return TRUE;
  g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_RACED, "the trigger changed meanwhile; look again");
  return FALSE;
}
