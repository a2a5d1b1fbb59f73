/* SPDX-License-Identifier: Apache-2.0 */
/* Pause keeps the cursor and disarms; resume puts what was missed into the ledger as `paused` or, with catch_up, leaves it to the misfire
 * rule. The waiting runs of a paused task are not moved here: the dispatcher parks them as it meets them, so that a pause costs the same
 * whatever the backlog. */
#include "base/clock.h"
#include "base/error.h"
#include "store/publish_private.h"

typedef struct {
  gint64 until_ms; /* 0: until resumed */
  const char *reason;
} PauseHow;

static gboolean disarm(
  PawlStore *store, const PawlId *trigger, const PauseHow *own /* NULL: the task's pause */, gint64 now_ms, GError **error) {
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(store, trigger, &schedule, error)) return FALSE;
  schedule.armed = FALSE;
  if (own != NULL) {
    pawl_schedule_clear(&schedule);
    if (schedule.paused_at_ms == 0) schedule.paused_at_ms = now_ms;
    schedule.pause_until_ms = own->until_ms;
    schedule.pause_reason = g_strdup(own->reason);
    schedule.paused_by = g_strdup(store->actor);
  }
  return pawl_schedule_write(store, &schedule, error);
}

static gboolean pause_inside(PawlStore *store, const PawlRef *ref, const PauseHow *how, gint64 now_ms, GError **error) {
  char until[PAWL_INSTANT_TEXT];
  const char *end = how->until_ms != 0 ? pawl_instant_text(how->until_ms, until) : NULL;
  if (ref->trigger_name != NULL)
    return disarm(store, &ref->trigger, how, now_ms, error) &&
           pawl_store_act(store, &ref->trigger, "trigger.paused", error, "reason", how->reason, "until", end, NULL);
  g_autoptr(GArray) triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_db_exec(store->db, PAWL_SQL_TASK_PAUSE, NULL, error,
        PAWL_ROW(pawl_id(&ref->task), pawl_int_or_null(how->until_ms), pawl_text(how->reason), pawl_text(store->actor))) ||
      !pawl_store_ids(store, PAWL_SQL_SCHEDULES_OF_TASK, triggers, error, PAWL_ROW(pawl_id(&ref->task))))
    return FALSE;
  for (guint i = 0; i < triggers->len; i++)
    if (!disarm(store, &g_array_index(triggers, PawlId, i), NULL, now_ms, error)) return FALSE;
  return pawl_store_act(store, &ref->task, "task.paused", error, "reason", how->reason, "until", end, NULL);
}

gboolean pawl_store_pause(
  PawlStore *store, const char *project, const char *reference, gint64 until_ms, const char *reason, GError **error) {
  g_auto(PawlRef) ref = {0};
  PauseHow how = {until_ms, reason};
  gint64 now_ms = 0;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = pawl_store_lookup(store, project, reference, FALSE, &ref, error) && pawl_lock_ref(store, &ref, error) &&
                pawl_store_now(store, &now_ms, error);
  if (ok && until_ms != 0 && until_ms <= now_ms) {
    char text[PAWL_INSTANT_TEXT];
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "a pause until %s would be over already", pawl_instant_text_short(until_ms, text));
    ok = FALSE;
  }
  if (!ok || !pause_inside(store, &ref, &how, now_ms, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}

/* Ends what holds a trigger back. `of_task`: the task's pause, which has just ended, is what it was held by. */
static gboolean rearm_one(
  PawlStore *store, const PawlId *trigger, gboolean of_task, gint64 until_ms, gboolean catch_up, gboolean *ret_changed, GError **error) {
  g_auto(PawlSchedule) schedule = {0};
  if (!pawl_schedule_read(store, trigger, &schedule, error)) return FALSE;
  gboolean own = schedule.paused_at_ms != 0;
  *ret_changed = FALSE;
  if (of_task && own) return TRUE; /* it stays paused by itself */
  if (!of_task && !own && !schedule.quarantined) return TRUE;
  g_autoptr(PawlTriggerSpec) spec = pawl_schedule_spec(store, trigger, schedule.trigger_revision, error);
  if (spec == NULL) return FALSE;
  gboolean waits_for_task = !of_task && schedule.task_paused;
  if ((own || of_task) && !catch_up && !waits_for_task && spec->enabled) {
    schedule.task_paused = of_task; /* names the outcome */
    if (!pawl_schedule_pass_over(store, &schedule, spec, until_ms, "paused", schedule.pause_reason, error)) return FALSE;
    if (schedule.cursor_ms == 0) pawl_schedule_aim(&schedule, spec, until_ms);
  }
  schedule.task_paused = waits_for_task;
  schedule.clear_quarantine = TRUE;
  schedule.paused_at_ms = schedule.pause_until_ms = 0;
  pawl_schedule_clear(&schedule);
  pawl_schedule_arm(&schedule, spec);
  *ret_changed = TRUE;
  return pawl_schedule_write(store, &schedule, error);
}

gboolean pawl_store_resume_trigger(PawlStore *store, const PawlId *trigger, gint64 until_ms, gboolean catch_up, GError **error) {
  gboolean changed = FALSE;
  if (!rearm_one(store, trigger, FALSE, until_ms, catch_up, &changed, error)) return FALSE;
  return !changed || pawl_store_act(store, trigger, "trigger.resumed", error, "catch_up", catch_up ? "yes" : NULL, NULL);
}

static gboolean unpause_runs(PawlStore *store, const PawlId *task, gboolean catch_up, GError **error) {
  gint64 moved;
  gboolean ok = store->shared ? pawl_store_int(store, PAWL_SQL_TASK_UNPAUSE_RUNS, &moved, error, PAWL_ROW(pawl_id(task)))
                              : pawl_db_exec(store->db, PAWL_SQL_UNPAUSE_COPY, NULL, error, PAWL_ROW(pawl_id(task))) &&
                                  pawl_db_exec(store->db, PAWL_SQL_UNPAUSE_DROP, NULL, error, PAWL_ROW(pawl_id(task)));
  return ok && pawl_store_act(store, task, "task.resumed", error, "catch_up", catch_up ? "yes" : NULL, NULL);
}

/* Under the task's lock, its pause having ended: its triggers, and what had been parked. */
static gboolean resume_rest(PawlStore *store, const PawlId *task, gint64 until_ms, gboolean catch_up, GError **error) {
  gboolean changed;
  g_autoptr(GArray) triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_SCHEDULES_OF_TASK, triggers, error, PAWL_ROW(pawl_id(task)))) return FALSE;
  for (guint i = 0; i < triggers->len; i++)
    if (!rearm_one(store, &g_array_index(triggers, PawlId, i), TRUE, until_ms, catch_up, &changed, error)) return FALSE;
  return unpause_runs(store, task, catch_up, error);
}

gboolean pawl_store_resume_task(PawlStore *store, const PawlId *task, gint64 until_ms, gboolean catch_up, GError **error) {
  gint64 was_paused = 0;
  g_autoptr(GArray) triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_db_exec(store->db, PAWL_SQL_TASK_RESUME, &was_paused, error, PAWL_ROW(pawl_id(task)))) return FALSE;
  if (was_paused != 0) return resume_rest(store, task, until_ms, catch_up, error);
  if (!pawl_store_ids(store, PAWL_SQL_SCHEDULES_OF_TASK, triggers, error, PAWL_ROW(pawl_id(task)))) return FALSE;
  for (guint i = 0; i < triggers->len; i++)
    if (!pawl_store_resume_trigger(store, &g_array_index(triggers, PawlId, i), until_ms, catch_up, error)) return FALSE;
  return TRUE;
}

gboolean pawl_store_resume(PawlStore *store, const char *project, const char *reference, gboolean catch_up, GError **error) {
  g_auto(PawlRef) ref = {0};
  gint64 now_ms = 0;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!pawl_store_lookup(store, project, reference, FALSE, &ref, error) || !pawl_lock_ref(store, &ref, error) ||
      !pawl_store_now(store, &now_ms, error) ||
      !(ref.trigger_name != NULL ? pawl_store_resume_trigger(store, &ref.trigger, now_ms, catch_up, error)
                                 : pawl_store_resume_task(store, &ref.task, now_ms, catch_up, error))) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}

/* ---- pauses that end by themselves ---- */

typedef gboolean (*EndFunction)(PawlStore *store, const PawlId *id, gint64 until_ms, GError **error);
typedef struct {
  PawlId id;
  gint64 until_ms;
} Expired;

/* Somebody may have resumed it, or made its pause longer, since it was read: looked at once more under its lock. */
static gboolean end_task_pause(PawlStore *store, const PawlId *task, gint64 until_ms, GError **error) {
  gint64 ended = 0;
  gboolean ok = store->shared ? pawl_store_int(store, PAWL_SQL_TASK_PAUSE_END, &ended, error, PAWL_ROW(pawl_id(task)))
                              : pawl_db_exec(store->db, PAWL_SQL_TASK_RESUME, &ended, error, PAWL_ROW(pawl_id(task)));
  return ok && (ended == 0 || resume_rest(store, task, until_ms, FALSE, error));
}

static gboolean end_trigger_pause(PawlStore *store, const PawlId *trigger, gint64 until_ms, GError **error) {
  gboolean stands;
  {
    g_auto(PawlSchedule) schedule = {0};
    if (!pawl_lock_schedule(store, trigger, error) || !pawl_schedule_read(store, trigger, &schedule, error)) return FALSE;
    stands = schedule.paused_at_ms != 0 && schedule.pause_until_ms == until_ms + 1;
  }
  return !stands || pawl_store_resume_trigger(store, trigger, until_ms, FALSE, error);
}

static gboolean end_each(PawlStore *store, PawlSql sql, EndFunction end, GError **error) {
  GError *why = NULL;
  g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(Expired));
  {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, sql, error, PAWL_NO_PARAMS);
    if (rows == NULL) return FALSE;
    while (pawl_rows_next(rows, &why)) {
      Expired row = {pawl_rows_id(rows, 0), pawl_rows_int(rows, 1)};
      g_array_append_val(list, row);
    }
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  /* what lies at the pause's end or after it is no longer paused: late, it falls under the misfire rule */
  for (guint i = 0; i < list->len; i++) {
    const Expired *row = &g_array_index(list, Expired, i);
    if (end(store, &row->id, row->until_ms - 1, &why)) continue;
    if (pawl_error_info_of(why)->retry) {
      g_propagate_error(error, why);
      return FALSE;
    }
    g_clear_error(&why); /* a damaged row stays paused and holds up nobody else; `doctor` finds it */
  }
  return TRUE;
}

gboolean pawl_store_resume_expired(PawlStore *store, GError **error) {
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!end_each(store, PAWL_SQL_EXPIRED_TASK_PAUSES, end_task_pause, error) ||
      !end_each(store, PAWL_SQL_EXPIRED_TRIGGER_PAUSES, end_trigger_pause, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}
