/* SPDX-License-Identifier: Apache-2.0 */
/* Admission: a batch of decisions becomes runs, ledger rows and moved cursors in one transaction. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/schedules.h"
#include "store/store_private.h"

#include <stdlib.h>

typedef struct {
  PawlStore *store;
  PawlAdmission *admission;
  const PawlTriggerSpec *trigger;
  const PawlTaskSpec *task;
  PawlId pool;
  gint64 now_ms, horizon_ms, last_admitted_ms;
} Settlement;

static const char *const settled_names[] = {
  [PAWL_SETTLED_SKIPPED] = "skipped",
  [PAWL_SETTLED_COALESCED] = "coalesced",
  [PAWL_SETTLED_OVER_LIMIT] = "over_limit",
};

/* ---- overlap ---- */

static gboolean count_unfinished(Settlement *s, gint *ret_active, gint *ret_waiting, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(s->store->db, PAWL_SQL_ADMIT_OVERLAP, error, PAWL_ROW(pawl_id(&s->admission->row.task)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  *ret_active = (gint)pawl_rows_int(rows, 0);
  *ret_waiting = (gint)pawl_rows_int(rows, 1);
  return TRUE;
}

typedef struct {
  PawlId run;
  gboolean leased;
} OtherRun;

/* REPLACE: what waits ends here, what a worker holds gets a cancel intent. */
static gboolean replace_others(Settlement *s, GError **error) {
  GError *failed = NULL;
  g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(OtherRun));
  PawlRows *rows = pawl_db_query(s->store->db, PAWL_SQL_ADMIT_OTHERS, error, PAWL_ROW(pawl_id(&s->admission->row.task)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    OtherRun other = {pawl_rows_id(rows, 0), pawl_rows_int(rows, 1) != 0};
    g_array_append_val(others, other);
  }
  pawl_rows_close(rows);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  for (guint i = 0; i < others->len; i++) {
    const OtherRun *other = &g_array_index(others, OtherRun, i);
    gboolean found;
    gboolean ok = other->leased
                    ? pawl_db_exec(s->store->db, PAWL_SQL_CANCEL_INSERT, NULL, error,
                        PAWL_ROW(pawl_id(&other->run), PAWL_NULL, pawl_text("replaced by a newer run")))
                    : pawl_store_end_waiting(s->store, &other->run, PAWL_EVENT_CANCEL, "replaced by a newer run", &found, error);
    if (!ok) return FALSE;
  }
  return TRUE;
}

/* The missed occurrences that fire_all makes up wait for each other instead of being skipped: it was asked for that they all run. */
static gboolean is_made_up(const Settlement *s) {
  return s->trigger->misfire.misfire == PAWL_MISFIRE_FIRE_ALL &&
         (s->admission->decision.made_up > 0 || s->admission->row.made_up > 0 || s->admission->decision.n_admit > 1);
}

static gboolean overlap_verdict(Settlement *s, PawlOverlapVerdict *ret, GError **error) {
  gint active, waiting;
  *ret = PAWL_OVERLAP_DO_ADMIT;
  if (s->trigger->overlap == PAWL_OVERLAP_ALLOW) return TRUE;
  if (s->trigger->overlap != PAWL_OVERLAP_REPLACE && is_made_up(s)) return TRUE;
  if (!count_unfinished(s, &active, &waiting, error)) return FALSE;
  *ret = pawl_overlap_rule(s->trigger->overlap, s->trigger->overlap_queue, active, waiting);
  return TRUE;
}

/* ---- one occurrence ---- */

static gboolean to_ledger(Settlement *s, const char *outcome, gint64 at_ms, const char *reason, GError **error) {
  return pawl_store_ledger_add(s->store, &s->admission->row.trigger, s->last_admitted_ms, outcome, at_ms, at_ms, 1, TRUE, reason, error);
}

/* A run of the derived id that is some other occurrence would be a collision (docs/adr/0007-derived-ids.md), or a damaged store. */
static gboolean already_there(Settlement *s, const PawlId *id, gint64 nominal_ms, GError **error) {
  GError *failed = NULL;
  gboolean same = FALSE;
  PawlRows *rows = pawl_db_query(
    s->store->db, PAWL_SQL_RUN_SAME_OCCURRENCE, error, PAWL_ROW(pawl_id(id), pawl_id(&s->admission->row.trigger), PAWL_INT(nominal_ms)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &failed)) same = pawl_rows_int(rows, 0) != 0;
  pawl_rows_close(rows);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (!same) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "the run id of an occurrence is taken by another one");
    return FALSE;
  }
  s->admission->already_run++;
  return to_ledger(s, "already_run", nominal_ms, NULL, error);
}

static gboolean create_run(Settlement *s, gint64 nominal_ms, GError **error) {
  const PawlDueRow *row = &s->admission->row;
  gboolean created;
  PawlNewRun run = {.id = pawl_id_derive(&row->trigger, nominal_ms),
    .project = row->project,
    .task = row->task,
    .pool = s->pool,
    .task_revision = row->task_revision,
    .trigger = &row->trigger,
    .trigger_revision = row->trigger_revision,
    .origin = "schedule",
    .nominal_at_ms = nominal_ms,
    .queued_at_ms = s->now_ms,
    .start_by_at_ms = s->task->start_within_ms > 0 ? nominal_ms + s->task->start_within_ms : 0,
    .priority = s->task->priority,
    .slots = s->task->slots,
    .trigger_born = TRUE,
    .input = s->trigger->input};
  if (!pawl_store_run_create(s->store, &run, &created, error)) return FALSE;
  if (!created) return already_there(s, &run.id, nominal_ms, error);
  s->admission->admitted++;
  s->last_admitted_ms = MAX(s->last_admitted_ms, nominal_ms);
  return TRUE;
}

static gboolean settle_occurrence(Settlement *s, gint64 nominal_ms, GError **error) {
  PawlOverlapVerdict verdict;
  if (nominal_ms <= s->horizon_ms) return to_ledger(s, "too_old", nominal_ms, "older than the history that is kept", error);
  if (!overlap_verdict(s, &verdict, error)) return FALSE;
  if (verdict == PAWL_OVERLAP_DO_LEDGER) {
    s->admission->overlapped++;
    return to_ledger(s, "overlap", nominal_ms, "an earlier run was unfinished", error);
  }
  if (verdict == PAWL_OVERLAP_DO_REPLACE && !replace_others(s, error)) return FALSE;
  return create_run(s, nominal_ms, error);
}

/* ---- one row ---- */

/* FALSE without error: raced. */
static gboolean still_as_claimed(Settlement *s, GError **error) {
  const PawlDueRow *row = &s->admission->row;
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(
    s->store->db, PAWL_SQL_ADMIT_CHECK, error, PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->state_version), PAWL_INT(row->cursor_ms)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &failed)) {
    s->now_ms = pawl_rows_int(rows, 0);
    return TRUE;
  }
  if (failed != NULL) g_propagate_error(error, failed);
  return FALSE;
}

static gboolean move_cursor(Settlement *s, gint64 settled_ms, GError **error) {
  const PawlDueRow *row = &s->admission->row;
  const PawlDecision *decision = &s->admission->decision;
  gint64 changed = 0, due_ms = 0;
  if (decision->has_next) due_ms = decision->next_ms + pawl_timing_jitter(&s->trigger->timing, &row->trigger, decision->next_ms);
  if (!pawl_db_exec(s->store->db, PAWL_SQL_ADMIT_SETTLE, &changed, error,
        PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->state_version), PAWL_INT(row->cursor_ms),
          decision->has_next ? PAWL_INT(decision->next_ms) : PAWL_NULL, decision->has_next ? PAWL_INT(due_ms) : PAWL_NULL,
          PAWL_INT(settled_ms), PAWL_INT(s->last_admitted_ms), PAWL_INT(decision->made_up))))
    return FALSE;
  if (changed == 1) return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a schedule row changed inside the transaction that held it");
  return FALSE;
}

/* Ledger ranges and runs in the order of their nominal times, so that ranges fold. */
static gboolean settle_row(Settlement *s, GError **error) {
  const PawlDecision *decision = &s->admission->decision;
  gint64 settled_ms = s->admission->row.last_scheduled_ms;
  guint i = 0;
  for (guint r = 0; r < decision->n_ranges; r++) {
    const PawlSettledRange *range = &decision->ranges[r];
    for (; i < decision->n_admit && decision->admit_ms[i] < range->from_ms; i++)
      if (!settle_occurrence(s, decision->admit_ms[i], error)) return FALSE;
    if (!pawl_store_ledger_add(s->store, &s->admission->row.trigger, s->last_admitted_ms, settled_names[range->outcome], range->from_ms,
          range->to_ms, range->count, TRUE, NULL, error))
      return FALSE;
    settled_ms = MAX(settled_ms, range->to_ms);
  }
  for (; i < decision->n_admit; i++)
    if (!settle_occurrence(s, decision->admit_ms[i], error)) return FALSE;
  if (decision->n_admit > 0) settled_ms = MAX(settled_ms, decision->admit_ms[decision->n_admit - 1]);
  return move_cursor(s, settled_ms, error);
}

static gboolean admit_one(PawlStore *store, PawlAdmission *admission, gint64 horizon_ms, GError **error) {
  GError *failed = NULL;
  Settlement s = {.store = store, .admission = admission, .horizon_ms = horizon_ms, .last_admitted_ms = admission->row.last_admitted_ms};
  admission->admitted = admission->already_run = admission->overlapped = 0;
  if (!still_as_claimed(&s, &failed)) {
    if (failed == NULL) {
      admission->outcome = PAWL_ADMIT_RACED;
      return TRUE;
    }
    g_propagate_error(error, failed);
    return FALSE;
  }
  s.trigger = pawl_store_trigger_spec(store, &admission->row.trigger, admission->row.trigger_revision, error);
  s.task = s.trigger != NULL ? pawl_store_task_spec(store, &admission->row.task, admission->row.task_revision, error) : NULL;
  if (s.task == NULL || !pawl_store_pool_id(store, &admission->row.project, s.task->pool, &s.pool, error)) return FALSE;
  if (!settle_row(&s, error)) return FALSE;
  admission->outcome = PAWL_ADMIT_DONE;
  return TRUE;
}

static gboolean read_horizon(PawlStore *store, gint64 *ret_horizon_ms, GError **error) {
  GError *failed = NULL;
  g_autofree char *text = pawl_store_meta_get(store, "horizon_ms", &failed);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  *ret_horizon_ms = text != NULL ? g_ascii_strtoll(text, NULL, 10) : 0;
  return TRUE;
}

gboolean pawl_store_admit(PawlStore *store, PawlAdmission **batch, guint n, GError **error) {
  gint64 horizon_ms;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = read_horizon(store, &horizon_ms, error);
  PAWL_FAULT("admit.after_begin");
  for (guint i = 0; ok && i < n; i++) ok = admit_one(store, batch[i], horizon_ms, error);
  PAWL_FAULT("admit.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  PAWL_FAULT("admit.after_commit");
  if (!ok) {
    pawl_db_rollback(store->db);
    for (guint i = 0; i < n; i++) batch[i]->outcome = PAWL_ADMIT_PENDING;
  }
  return ok;
}
