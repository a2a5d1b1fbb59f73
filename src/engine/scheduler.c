/* SPDX-License-Identifier: Apache-2.0 */
/* A round of scheduling: claim, decide, admit. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "base/log.h"
#include "domain/metrics.h"
#include "engine/engine_private.h"

#define BUDGET_MIN 16
#define BUDGET_MAX 256
#define RESOLVE_MS 60000 /* the longest lease of a claim */
#define RESOLVE_EVERY_MS 200
#define TRIES 8

static void admission_clear(gpointer p) {
  PawlAdmission *admission = p;
  pawl_decision_clear(&admission->decision);
}

static void quarantine(PawlStore *store, PawlAdmission *admission, const char *reason) {
  g_autoptr(GError) failed = NULL;
  char id[PAWL_ID_TEXT];
  pawl_id_text(&admission->row.trigger, id);
  admission->outcome = PAWL_ADMIT_FAILED;
  pawl_metric_add(PAWL_METRIC_QUARANTINES, 0, 1);
  if (pawl_store_quarantine(store, &admission->row, reason, &failed))
    pawl_log(PAWL_LOG_ERROR, "trigger.quarantined", "a trigger was put aside; the others go on", "trigger", id, "reason", reason, NULL);
  else
    pawl_log(
      PAWL_LOG_ERROR, "trigger.quarantine_failed", "a trigger could not be put aside", "trigger", id, "reason", failed->message, NULL);
}

/* FALSE: the trigger's specs cannot be read; `error` says why. */
static gboolean decide(PawlStore *store, PawlAdmission *admission, GError **error) {
  const PawlDueRow *row = &admission->row;
  const PawlTriggerSpec *spec = pawl_store_trigger_spec(store, &row->trigger, row->trigger_revision, error);
  if (spec == NULL) return FALSE;
  PawlDecideInput input = {
    .cursor_ms = row->cursor_ms, .now_ms = row->acquired_at_ms, .first_claimed_at_ms = row->first_claimed_ms, .made_up = row->made_up};
  pawl_decide(&spec->timing, &row->trigger, &spec->misfire, &input, &admission->decision);
  return TRUE;
}

/* Whether the store, and not this batch, is what failed: then nobody is put aside, and the caller tries again later. */
static gboolean store_failed(const GError *error) { return pawl_error_info_of(error)->retry; }

/* ---- counting ---- */

static void count_ledger(const char *outcome, gint64 n) {
  pawl_metric_add(PAWL_METRIC_LEDGER, pawl_metric_value(PAWL_METRIC_LEDGER, outcome), n);
}

/* `now_ms`: the database's clock. Jitter is known of the first occurrence only. */
static void count_delays(const PawlAdmission *admission, gint64 now_ms) {
  for (guint i = 0; i < MIN(admission->admitted, admission->decision.n_admit); i++) {
    gint64 nominal_ms = admission->decision.admit_ms[i];
    gint64 due_ms = nominal_ms == admission->row.cursor_ms ? admission->row.due_at_ms : nominal_ms;
    pawl_metric_observe_ms(PAWL_METRIC_ADMISSION_DELAY, now_ms - due_ms);
  }
}

static void count(const PawlAdmission *admission, gint64 now_ms) {
  static const char *const settled[] = {
    [PAWL_SETTLED_SKIPPED] = "skipped", [PAWL_SETTLED_COALESCED] = "coalesced", [PAWL_SETTLED_OVER_LIMIT] = "over_limit"};
  if (admission->outcome == PAWL_ADMIT_RACED) pawl_metric_add(PAWL_METRIC_RACED, 0, 1);
  if (admission->outcome != PAWL_ADMIT_DONE) return;
  pawl_metric_add(PAWL_METRIC_ADMISSIONS, 0, admission->admitted);
  pawl_metric_add(PAWL_METRIC_ALREADY_RUN, 0, admission->already_run);
  count_ledger("already_run", admission->already_run);
  count_ledger("overlap", admission->overlapped);
  for (guint i = 0; i < admission->decision.n_ranges; i++)
    count_ledger(settled[admission->decision.ranges[i].outcome], admission->decision.ranges[i].count);
  count_delays(admission, now_ms);
}

/* The claim's instant by the database's clock, and what has passed since by ours. */
static void count_batch(PawlAdmission **batch, guint n, gint64 claim_mono_ms) {
  gint64 passed_ms = pawl_clock_mono_ms() - claim_mono_ms;
  for (guint i = 0; i < n; i++) count(batch[i], batch[i]->row.acquired_at_ms + passed_ms);
}

/* The COMMIT of a batch got no answer: each row is asked about until there is a verdict, or its claim has run out and others may take it. */
static gboolean resolve(PawlStore *store, PawlAdmission **batch, guint n, GError **error) {
  gint64 until_ms = pawl_clock_mono_ms() + RESOLVE_MS;
  for (guint i = 0; i < n; i++) {
    g_autoptr(GError) failed = NULL;
    while (!pawl_store_resolve(store, batch[i], &failed)) {
      if (!store_failed(failed) || pawl_clock_mono_ms() > until_ms) {
        g_propagate_error(error, g_steal_pointer(&failed));
        return FALSE;
      }
      g_clear_error(&failed);
      g_usleep(RESOLVE_EVERY_MS * 1000);
    }
    if (batch[i]->outcome == PAWL_ADMIT_DONE) batch[i]->admitted = batch[i]->decision.n_admit;
  }
  pawl_log(PAWL_LOG_NOTICE, "admission.resolved", "the answer to a COMMIT was lost; what it did is known now", NULL);
  return TRUE;
}

static gboolean admit(PawlStore *store, PawlAdmission **batch, guint n, gint64 claim_mono_ms, GError **error);

/* What did not happen is admitted under its new token. */
static gboolean admit_again(PawlStore *store, PawlAdmission **batch, guint n, gint64 claim_mono_ms, GError **error) {
  g_autoptr(GPtrArray) pending = g_ptr_array_new();
  if (!resolve(store, batch, n, error)) return FALSE;
  for (guint i = 0; i < n; i++) {
    if (batch[i]->outcome == PAWL_ADMIT_PENDING)
      g_ptr_array_add(pending, batch[i]);
    else
      count_batch(&batch[i], 1, claim_mono_ms);
  }
  return admit(store, (PawlAdmission **)pending->pdata, pending->len, claim_mono_ms, error);
}

/* What failed for being in somebody's way (a serialization failure, a deadlock, a lock not had in time) is written again while the claim lasts. */
static gboolean admit_patiently(PawlStore *store, PawlAdmission **batch, guint n, GError **error) {
  for (guint try = 1;; try++) {
    g_autoptr(GError) failed = NULL;
    if (pawl_store_admit(store, batch, n, &failed)) return TRUE;
    if (!pawl_store_shared(store) || try == TRIES || !g_error_matches(failed, PAWL_ERROR, PAWL_ERROR_BUSY)) {
      g_propagate_error(error, g_steal_pointer(&failed));
      return FALSE;
    }
    g_usleep((gulong)g_random_int_range(1000, 10000 * (gint)try));
  }
}

/* Admits a batch; a failure is halved until the bad one stands alone. FALSE only when the store itself cannot be used. */
static gboolean admit(PawlStore *store, PawlAdmission **batch, guint n, gint64 claim_mono_ms, GError **error) {
  g_autoptr(GError) failed = NULL;
  if (n == 0) return TRUE;
  if (admit_patiently(store, batch, n, &failed)) {
    count_batch(batch, n, claim_mono_ms);
    return TRUE;
  }
  if (g_error_matches(failed, PAWL_ERROR, PAWL_ERROR_RACED)) {
    for (guint i = 0; i < n; i++) batch[i]->outcome = PAWL_ADMIT_RACED;
    count_batch(batch, n, claim_mono_ms);
    return TRUE;
  }
  if (pawl_store_shared(store) && g_error_matches(failed, PAWL_ERROR, PAWL_ERROR_AMBIGUOUS))
    return admit_again(store, batch, n, claim_mono_ms, error);
  if (store_failed(failed)) {
    g_propagate_error(error, g_steal_pointer(&failed));
    return FALSE;
  }
  if (n == 1) {
    quarantine(store, batch[0], failed->message);
    return TRUE;
  }
  return admit(store, batch, n / 2, claim_mono_ms, error) && admit(store, batch + n / 2, n - n / 2, claim_mono_ms, error);
}

static GArray *admissions_of(const GArray *rows) {
  GArray *admissions = g_array_sized_new(FALSE, TRUE, sizeof(PawlAdmission), rows->len);
  g_array_set_clear_func(admissions, admission_clear);
  for (guint i = 0; i < rows->len; i++) {
    PawlAdmission admission = {.row = g_array_index(rows, PawlDueRow, i)};
    g_array_append_val(admissions, admission);
  }
  return admissions;
}

/* Decides all; what cannot be decided is put aside and not part of the batch. FALSE: the store cannot be used. */
static gboolean decide_all(PawlStore *store, GArray *admissions, GPtrArray *batch, GError **error) {
  for (guint i = 0; i < admissions->len; i++) {
    g_autoptr(GError) failed = NULL;
    PawlAdmission *admission = &g_array_index(admissions, PawlAdmission, i);
    if (decide(store, admission, &failed))
      g_ptr_array_add(batch, admission);
    else if (store_failed(failed)) {
      g_propagate_error(error, g_steal_pointer(&failed));
      return FALSE;
    } else
      quarantine(store, admission, failed->message);
  }
  return TRUE;
}

gboolean pawl_scheduler_round(PawlStore *store, guint *budget, PawlRound *ret_round, GError **error) {
  PawlRound round = {0};
  gint64 now_ms, claim_mono_ms;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlDueRow));
  g_autoptr(GPtrArray) batch = g_ptr_array_new();
  *budget = CLAMP(*budget, BUDGET_MIN, BUDGET_MAX);
  if (!pawl_store_claim(store, *budget, rows, &now_ms, error)) return FALSE;
  claim_mono_ms = pawl_clock_mono_ms();
  round.now_ms = now_ms;
  if (now_ms != 0) pawl_metric_set(PAWL_METRIC_CLOCK_DISTANCE, 0, now_ms - pawl_clock_wall_ms());
  PAWL_FAULT("schedule.after_claim");
  round.claimed = rows->len;
  round.more = rows->len == *budget;
  *budget = round.more ? MIN(*budget * 2, BUDGET_MAX) : BUDGET_MIN;
  if (rows->len > 0) {
    g_autoptr(GArray) admissions = admissions_of(rows);
    if (!decide_all(store, admissions, batch, error) || !admit(store, (PawlAdmission **)batch->pdata, batch->len, claim_mono_ms, error)) {
      for (guint i = 0; i < admissions->len; i++) pawl_store_claim_give_back(store, &g_array_index(admissions, PawlAdmission, i).row);
      return FALSE;
    }
    for (guint i = 0; i < admissions->len; i++) {
      const PawlAdmission *admission = &g_array_index(admissions, PawlAdmission, i);
      round.admitted += admission->admitted;
      round.put_aside |= admission->outcome == PAWL_ADMIT_FAILED;
      /* a cursor that is due again (a long absence in rounds), or one that was raced, is looked at once more */
      if (admission->outcome == PAWL_ADMIT_RACED || (admission->decision.has_next && admission->decision.next_ms <= now_ms))
        round.more = TRUE;
    }
  }
  /* only now: what is due waits for nothing */
  if (!round.more && !pawl_store_next_due(store, now_ms, &round.next_due_ms, error)) return FALSE;
  *ret_round = round;
  return TRUE;
}
