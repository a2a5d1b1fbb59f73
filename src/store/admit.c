/* SPDX-License-Identifier: Apache-2.0 */
/* Admission: a batch of decisions becomes runs, ledger rows and moved cursors in one transaction. */
#include "base/error.h"
#include "base/fault.h"
#include "store/admit_private.h"

static PawlSettlement *settlement(const PawlAdmitBatch *batch, guint i) { return &g_array_index(batch->settlements, PawlSettlement, i); }

static void settlement_clear(gpointer p) {
  PawlSettlement *s = p;
  g_free(s->input);
  g_array_unref(s->items);
}

/* ---- locks (of a server; the one writer of an embedded store needs none) ---- */

static gint compare_ids(gconstpointer a, gconstpointer b) { return pawl_id_compare(a, b); }

/* In the order of their ids, each once. */
static gboolean lock_ids(PawlStore *store, PawlSql sql, GArray *ids, GError **error) {
  g_autoptr(PawlMany) rows = pawl_many_new(sql);
  g_array_sort(ids, compare_ids);
  for (guint i = 0; i < ids->len; i++) {
    const PawlId *id = &g_array_index(ids, PawlId, i);
    if (i == 0 || !pawl_id_equal(id, id - 1)) pawl_many_add(rows, PAWL_ROW(pawl_id(id)));
  }
  return pawl_many_exec(store, rows, NULL, error);
}

static gboolean lock_batch(PawlAdmitBatch *batch, GError **error) {
  g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(PawlId)), triggers = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (pawl_db_server(batch->store->db) == NULL) return TRUE;
  for (guint i = 0; i < batch->settlements->len; i++) {
    const PawlSettlement *s = settlement(batch, i);
    g_array_append_val(triggers, s->admission->row.trigger);
    if (s->overlap != PAWL_OVERLAP_ALLOW) g_array_append_val(tasks, s->admission->row.task);
  }
  PawlSql gates = batch->store->serializable ? PAWL_SQL_TASK_GATE_BUMP : PAWL_SQL_TASK_GATES_LOCK;
  return lock_ids(batch->store, gates, tasks, error) && lock_ids(batch->store, PAWL_SQL_SCHEDULES_LOCK, triggers, error);
}

/* ---- the fence ---- */

static gboolean check_fences(PawlAdmitBatch *batch, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlMany) fences = pawl_many_new(PAWL_SQL_ADMIT_CHECK);
  for (guint i = 0; i < batch->settlements->len; i++) {
    PawlSettlement *s = settlement(batch, i);
    const PawlDueRow *row = &s->admission->row;
    s->raced = TRUE;
    pawl_many_add(fences, PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->trigger_revision), PAWL_INT(row->task_revision),
                            PAWL_INT(row->state_version), PAWL_INT(row->cursor_ms), PAWL_INT(row->claim_version),
                            pawl_id(pawl_id_is_none(&row->claim_token) ? NULL : &row->claim_token), PAWL_INT(row->acquired_at_ms)));
  }
  PawlRows *rows = pawl_many_query(batch->store, fences, error);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    PawlSettlement *s = settlement(batch, (guint)pawl_rows_index(rows));
    s->raced = FALSE;
    s->now_ms = pawl_rows_int(rows, 0);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

/* ---- writing ---- */

static void fill_run(const PawlSettlement *s, const PawlSettlementItem *item, PawlNewRun *run) {
  const PawlDueRow *row = &s->admission->row;
  *run = (PawlNewRun){.id = item->run,
    .project = row->project,
    .task = row->task,
    .pool = s->pool,
    .task_revision = row->task_revision,
    .trigger = &row->trigger,
    .trigger_revision = row->trigger_revision,
    .origin = "schedule",
    .nominal_at_ms = item->from_ms,
    .queued_at_ms = s->now_ms,
    .start_by_at_ms = s->start_within_ms > 0 ? item->from_ms + s->start_within_ms : 0,
    .priority = s->priority,
    .slots = s->slots,
    .trigger_born = TRUE,
    .input = s->input};
}

static gboolean write_runs(PawlAdmitBatch *batch, GError **error) {
  g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(PawlNewRun)), of = g_array_new(FALSE, FALSE, sizeof(PawlSettlementItem *));
  for (guint i = 0; i < batch->settlements->len; i++) {
    PawlSettlement *s = settlement(batch, i);
    for (guint k = s->written; k < s->items->len; k++) {
      PawlSettlementItem *item = &g_array_index(s->items, PawlSettlementItem, k);
      PawlNewRun run;
      if (!item->is_run) continue;
      fill_run(s, item, &run);
      g_array_append_val(runs, run);
      g_array_append_val(of, item);
    }
  }
  if (runs->len == 0) return TRUE;
  g_autofree gboolean *created = g_new0(gboolean, runs->len);
  if (!pawl_store_runs_create(batch->store, (PawlNewRun *)runs->data, runs->len, created, error)) return FALSE;
  for (guint i = 0; i < runs->len; i++) g_array_index(of, PawlSettlementItem *, i)->created = created[i];
  return TRUE;
}

/* A run of the derived id that is some other occurrence would be a collision (docs/adr/0007-derived-ids.md), or a damaged store. */
static gboolean already_there(PawlAdmitBatch *batch, PawlSettlement *s, const PawlSettlementItem *item, GError **error) {
  gint64 same = 0;
  if (!pawl_store_int(batch->store, PAWL_SQL_RUN_SAME_OCCURRENCE, &same, error,
        PAWL_ROW(pawl_id(&item->run), pawl_id(&s->admission->row.trigger), PAWL_INT(item->from_ms))))
    return FALSE;
  if (same == 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "the run id of an occurrence is taken by another one");
    return FALSE;
  }
  s->admission->already_run++;
  return pawl_store_ledger_add(
    batch->store, &s->admission->row.trigger, s->last_admitted_ms, "already_run", item->from_ms, item->from_ms, 1, TRUE, NULL, error);
}

static gboolean write_rest(PawlAdmitBatch *batch, PawlSettlement *s, GError **error) {
  for (; s->written < s->items->len; s->written++) {
    const PawlSettlementItem *item = &g_array_index(s->items, PawlSettlementItem, s->written);
    if (item->is_run && item->created) {
      s->admission->admitted++;
      s->last_admitted_ms = MAX(s->last_admitted_ms, item->from_ms);
    } else if (item->is_run) {
      if (!already_there(batch, s, item, error)) return FALSE;
    } else if (!pawl_store_ledger_add(batch->store, &s->admission->row.trigger, s->last_admitted_ms, item->outcome, item->from_ms,
                 item->to_ms, item->count, TRUE, item->reason, error))
      return FALSE;
  }
  return TRUE;
}

gboolean pawl_admit_write(PawlAdmitBatch *batch, GError **error) {
  if (!write_runs(batch, error)) return FALSE;
  for (guint i = 0; i < batch->settlements->len; i++)
    if (!write_rest(batch, settlement(batch, i), error)) return FALSE;
  return TRUE;
}

/* The fence once more: the lease may have run out since it was compared. */
static gboolean move_cursors(PawlAdmitBatch *batch, GError **error) {
  g_autoptr(PawlMany) moves = pawl_many_new(PAWL_SQL_ADMIT_SETTLE);
  for (guint i = 0; i < batch->settlements->len; i++) {
    const PawlSettlement *s = settlement(batch, i);
    const PawlDueRow *row = &s->admission->row;
    const PawlDecision *decision = &s->admission->decision;
    if (s->raced) continue;
    pawl_many_add(
      moves, PAWL_ROW(pawl_id(&row->trigger), PAWL_INT(row->state_version), PAWL_INT(row->cursor_ms), PAWL_INT(row->claim_version),
               decision->has_next ? PAWL_INT(decision->next_ms) : PAWL_NULL, decision->has_next ? PAWL_INT(s->next_due_ms) : PAWL_NULL,
               PAWL_INT(s->settled_ms), PAWL_INT(s->last_admitted_ms), PAWL_INT(decision->made_up)));
  }
  g_autofree gint64 *changed = g_new0(gint64, MAX(moves->n_rows, 1));
  if (!pawl_many_exec(batch->store, moves, changed, error)) return FALSE;
  for (gsize i = 0; i < moves->n_rows; i++)
    if (changed[i] != 1) {
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_RACED, "a claim ran out while its admission was written");
      return FALSE;
    }
  return TRUE;
}

/* ---- the transaction ---- */

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

static gboolean settle(PawlAdmitBatch *batch, GError **error) {
  if (!lock_batch(batch, error) || !read_horizon(batch->store, &batch->horizon_ms, error)) return FALSE;
  PAWL_FAULT("admit.after_begin");
  if (!check_fences(batch, error) || !pawl_admit_uses(batch, error)) return FALSE;
  for (guint i = 0; i < batch->settlements->len; i++) {
    PawlSettlement *s = settlement(batch, i);
    if (!s->raced && !pawl_admit_plan(batch, s, error)) return FALSE;
  }
  return pawl_admit_write(batch, error) && move_cursors(batch, error);
}

static gboolean prepare(PawlAdmitBatch *batch, PawlAdmission **admissions, guint n, GError **error) {
  for (guint i = 0; i < n; i++) {
    PawlAdmission *admission = admissions[i];
    PawlSettlement s = {.admission = admission,
      .last_admitted_ms = admission->row.last_admitted_ms,
      .items = g_array_new(FALSE, FALSE, sizeof(PawlSettlementItem))};
    admission->admitted = admission->already_run = admission->overlapped = 0;
    admission->outcome = PAWL_ADMIT_PENDING;
    g_array_append_val(batch->settlements, s);
    if (!pawl_admit_facts(batch, settlement(batch, i), error)) return FALSE;
  }
  return TRUE;
}

gboolean pawl_store_admit(PawlStore *store, PawlAdmission **admissions, guint n, GError **error) {
  g_autoptr(GArray) settlements = g_array_sized_new(FALSE, FALSE, sizeof(PawlSettlement), n);
  g_autoptr(GHashTable) uses = g_hash_table_new_full(pawl_id_hash, pawl_id_equal_p, NULL, g_free);
  PawlAdmitBatch batch = {.store = store, .settlements = settlements, .uses = uses};
  g_array_set_clear_func(settlements, settlement_clear);
  gboolean ok = prepare(&batch, admissions, n, error);
  g_free(batch.pool_name);
  if (!ok) return FALSE;
  if (!pawl_db_begin(store->db, store->serializable ? PAWL_TX_SERIALIZABLE : PAWL_TX_WRITE, error)) return FALSE;
  ok = settle(&batch, error);
  PAWL_FAULT("admit.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  PAWL_FAULT("admit.after_commit");
  if (!ok) pawl_db_rollback(store->db);
  for (guint i = 0; ok && i < n; i++) admissions[i]->outcome = settlement(&batch, i)->raced ? PAWL_ADMIT_RACED : PAWL_ADMIT_DONE;
  return ok;
}
