/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each occurrence of a decision: a run, or a range of the ledger. */
#include "base/error.h"
#include "store/admit_private.h"

typedef struct {
  PawlId task;
  gint active, waiting;
} TaskUse;

static const char *const settled_names[] = {
  [PAWL_SETTLED_SKIPPED] = "skipped",
  [PAWL_SETTLED_COALESCED] = "coalesced",
  [PAWL_SETTLED_OVER_LIMIT] = "over_limit",
};

/* The missed occurrences that fire_all makes up wait for each other instead of being skipped: it was asked for that they all run. */
static gboolean makes_up(const PawlTriggerSpec *trigger, const PawlAdmission *admission) {
  return trigger->misfire.misfire == PAWL_MISFIRE_FIRE_ALL &&
         (admission->decision.made_up > 0 || admission->row.made_up > 0 || admission->decision.n_admit > 1);
}

static gboolean find_pool(PawlAdmitBatch *batch, const PawlId *project, const char *name, PawlId *ret_pool, GError **error) {
  if (g_strcmp0(batch->pool_name, name) != 0 || !pawl_id_equal(&batch->pool_project, project)) {
    if (!pawl_store_pool_id(batch->store, project, name, &batch->pool, error)) return FALSE;
    g_free(batch->pool_name);
    batch->pool_name = g_strdup(name);
    batch->pool_project = *project;
  }
  *ret_pool = batch->pool;
  return TRUE;
}

gboolean pawl_admit_facts(PawlAdmitBatch *batch, PawlSettlement *s, GError **error) {
  const PawlDueRow *row = &s->admission->row;
  const PawlDecision *decision = &s->admission->decision;
  const PawlTriggerSpec *trigger = pawl_store_trigger_spec(batch->store, &row->trigger, row->trigger_revision, error);
  if (trigger == NULL) return FALSE;
  s->overlap = trigger->overlap;
  s->overlap_queue = trigger->overlap_queue;
  s->makes_up = makes_up(trigger, s->admission);
  s->input = g_strdup(trigger->input);
  if (decision->has_next) s->next_due_ms = decision->next_ms + pawl_timing_jitter(&trigger->timing, &row->trigger, decision->next_ms);
  const PawlTaskSpec *task = pawl_store_task_spec(batch->store, &row->task, row->task_revision, error);
  if (task == NULL || !find_pool(batch, &row->project, task->pool, &s->pool, error)) return FALSE;
  s->slots = task->slots;
  s->priority = task->priority;
  s->start_within_ms = task->start_within_ms;
  return TRUE;
}

/* ---- overlap ---- */

static gboolean counts(const PawlSettlement *s) {
  return s->overlap != PAWL_OVERLAP_ALLOW && (s->overlap == PAWL_OVERLAP_REPLACE || !s->makes_up);
}

static gboolean read_uses(PawlAdmitBatch *batch, const PawlMany *tasks, GError **error) {
  GError *failed = NULL;
  if (tasks->n_rows == 0) return TRUE;
  g_autoptr(PawlRows) rows = pawl_many_query(batch->store, tasks, error);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    TaskUse *use = g_new(TaskUse, 1);
    *use = (TaskUse){pawl_rows_id(rows, 0), (gint)pawl_rows_int(rows, 1), (gint)pawl_rows_int(rows, 2)};
    g_hash_table_replace(batch->uses, &use->task, use);
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

gboolean pawl_admit_uses(PawlAdmitBatch *batch, GError **error) {
  g_autoptr(PawlMany) tasks = pawl_many_new(PAWL_SQL_ADMIT_OVERLAP);
  g_autoptr(GHashTable) seen = g_hash_table_new(pawl_id_hash, pawl_id_equal_p);
  for (guint i = 0; i < batch->settlements->len; i++) {
    const PawlSettlement *s = &g_array_index(batch->settlements, PawlSettlement, i);
    const PawlId *task = &s->admission->row.task;
    if (!s->raced && counts(s) && g_hash_table_add(seen, (gpointer)task)) pawl_many_add(tasks, PAWL_ROW(pawl_id(task)));
  }
  return read_uses(batch, tasks, error);
}

typedef struct {
  PawlId run;
  gboolean leased;
} OtherRun;

static GArray *read_others(PawlStore *store, const PawlId *task, GError **error) {
  GError *failed = NULL;
  PawlRows *rows = pawl_db_query(store->db, PAWL_SQL_ADMIT_OTHERS, error, PAWL_ROW(pawl_id(task)));
  if (rows == NULL) return NULL;
  GArray *others = g_array_new(FALSE, FALSE, sizeof(OtherRun));
  while (pawl_rows_next(rows, &failed)) {
    OtherRun other = {pawl_rows_id(rows, 0), pawl_rows_int(rows, 1) != 0};
    g_array_append_val(others, other);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return others;
  g_propagate_error(error, failed);
  g_array_unref(others);
  return NULL;
}

/* REPLACE: what waits ends here, what a worker holds gets a cancel intent. Runs of the task that this batch has planned are among them. */
static gboolean replace_others(PawlAdmitBatch *batch, const PawlId *task, GError **error) {
  PawlStore *store = batch->store;
  if (!pawl_admit_write(batch, error)) return FALSE;
  g_autoptr(GArray) others = read_others(store, task, error);
  if (others == NULL) return FALSE;
  for (guint i = 0; i < others->len; i++) {
    const OtherRun *other = &g_array_index(others, OtherRun, i);
    gboolean found;
    /* on a shared store the intent comes first: what is being moved meanwhile is stopped by its worker, or ended by the sweep */
    gboolean intent = other->leased || store->shared;
    if (intent && !pawl_db_exec(store->db, PAWL_SQL_CANCEL_INSERT, NULL, error,
                    PAWL_ROW(pawl_id(&other->run), PAWL_NULL, pawl_text("replaced by a newer run"))))
      return FALSE;
    if (!other->leased && !pawl_store_end_waiting(store, &other->run, PAWL_EVENT_CANCEL, "replaced by a newer run", &found, error))
      return FALSE;
  }
  g_autoptr(PawlMany) again = pawl_many_new(PAWL_SQL_ADMIT_OVERLAP);
  pawl_many_add(again, PAWL_ROW(pawl_id(task)));
  return read_uses(batch, again, error);
}

static gboolean overlap_verdict(PawlAdmitBatch *batch, PawlSettlement *s, PawlOverlapVerdict *ret, GError **error) {
  *ret = PAWL_OVERLAP_DO_ADMIT;
  if (!counts(s)) return TRUE;
  const TaskUse *use = g_hash_table_lookup(batch->uses, &s->admission->row.task);
  if (use == NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "what an overlap rule counts was not read");
    return FALSE;
  }
  *ret = pawl_overlap_rule(s->overlap, s->overlap_queue, use->active, use->waiting);
  return TRUE;
}

/* ---- the plan ---- */

static void plan_ledger(PawlSettlement *s, const char *outcome, gint64 from_ms, gint64 to_ms, gint64 count, const char *reason) {
  PawlSettlementItem item = {.outcome = outcome, .from_ms = from_ms, .to_ms = to_ms, .count = count, .reason = reason};
  g_array_append_val(s->items, item);
}

static void plan_run(PawlAdmitBatch *batch, PawlSettlement *s, gint64 nominal_ms) {
  PawlSettlementItem item = {.is_run = TRUE, .run = pawl_id_derive(&s->admission->row.trigger, nominal_ms), .from_ms = nominal_ms};
  g_array_append_val(s->items, item);
  TaskUse *use = g_hash_table_lookup(batch->uses, &s->admission->row.task);
  if (use != NULL) use->waiting++;
}

static gboolean plan_occurrence(PawlAdmitBatch *batch, PawlSettlement *s, gint64 nominal_ms, GError **error) {
  PawlOverlapVerdict verdict;
  if (nominal_ms <= batch->horizon_ms) {
    plan_ledger(s, "too_old", nominal_ms, nominal_ms, 1, "older than the history that is kept");
    return TRUE;
  }
  if (!overlap_verdict(batch, s, &verdict, error)) return FALSE;
  if (verdict == PAWL_OVERLAP_DO_LEDGER) {
    s->admission->overlapped++;
    plan_ledger(s, "overlap", nominal_ms, nominal_ms, 1, "an earlier run was unfinished");
    return TRUE;
  }
  if (verdict == PAWL_OVERLAP_DO_REPLACE && !replace_others(batch, &s->admission->row.task, error)) return FALSE;
  plan_run(batch, s, nominal_ms);
  return TRUE;
}

/* Ledger ranges and runs in the order of their times, so that ranges fold. */
gboolean pawl_admit_plan(PawlAdmitBatch *batch, PawlSettlement *s, GError **error) {
  const PawlDecision *decision = &s->admission->decision;
  guint i = 0;
  s->settled_ms = s->admission->row.last_scheduled_ms;
  for (guint r = 0; r < decision->n_ranges; r++) {
    const PawlSettledRange *range = &decision->ranges[r];
    for (; i < decision->n_admit && decision->admit_ms[i] < range->from_ms; i++)
      if (!plan_occurrence(batch, s, decision->admit_ms[i], error)) return FALSE;
    plan_ledger(s, settled_names[range->outcome], range->from_ms, range->to_ms, range->count, NULL);
    s->settled_ms = MAX(s->settled_ms, range->to_ms);
  }
  for (; i < decision->n_admit; i++)
    if (!plan_occurrence(batch, s, decision->admit_ms[i], error)) return FALSE;
  if (decision->n_admit > 0) s->settled_ms = MAX(s->settled_ms, decision->admit_ms[decision->n_admit - 1]);
  return TRUE;
}
