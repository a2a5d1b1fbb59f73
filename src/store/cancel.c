/* SPDX-License-Identifier: Apache-2.0 */
/* A cancel is an intent first and a signal second. What waits ends in the same transaction; what is leased gets a row in `cancels`, which
 * every renewal of its worker reads; the worker stops the work and reports. */
#include "base/error.h"
#include "store/publish_private.h"
#include "store/runs.h"

#define CANCEL_BITE 1000 /* runs in one transaction when a whole task is cancelled */

/* Inside a transaction, on an embedded store. `stand`: run_stand's answer. */
static gboolean cancel_one(PawlStore *store, const PawlId *run, const char *stand, const char *reason, GError **error) {
  gboolean found = FALSE;
  if (!pawl_store_act(store, run, "run.cancel_requested", error, "reason", reason, NULL)) return FALSE;
  if (g_str_equal(stand, "waiting")) return pawl_store_end_waiting(store, run, PAWL_EVENT_CANCEL, reason, &found, error);
  return pawl_db_exec(store->db, PAWL_SQL_CANCEL_INSERT, NULL, error, PAWL_ROW(pawl_id(run), pawl_text(store->actor), pawl_text(reason)));
}

static char *stand_of(PawlStore *store, const PawlId *run, GError **error) {
  return pawl_store_string(store, PAWL_SQL_RUN_STAND, error, PAWL_ROW(pawl_id(run)));
}

static char *reason_or_actor(PawlStore *store, const char *reason) {
  return reason != NULL ? g_strdup(reason) : g_strdup_printf("cancelled by %s", store->actor);
}

/* Inside a transaction. On a shared store by the owner's function: a run may be moved meanwhile, and who publishes may not end runs. */
static gboolean cancel_unfinished(PawlStore *store, const PawlId *run, const char *reason, GError **error) {
  g_autofree char *outcome = NULL, *stand = NULL;
  if (store->shared) {
    outcome = pawl_store_string(store, PAWL_SQL_RUN_CANCEL, error, PAWL_ROW(pawl_id(run), pawl_text(reason), pawl_text(store->actor)));
    return outcome != NULL;
  }
  stand = stand_of(store, run, error);
  return stand != NULL && cancel_one(store, run, stand, reason, error);
}

/* Inside a transaction: FALSE and an error when the run is not one that can be cancelled. */
static gboolean cancel_checked(PawlStore *store, const PawlId *run, const char *reason, GError **error) {
  GError *why = NULL;
  char text[PAWL_ID_TEXT];
  g_autofree char *stand = stand_of(store, run, &why);
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  if (stand == NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no run %s", pawl_id_text(run, text));
    return FALSE;
  }
  if (!g_str_equal(stand, "nowhere")) return cancel_one(store, run, stand, reason, error);
  PawlRunRow *row = pawl_store_run(store, run, error);
  if (row == NULL) return FALSE;
  g_set_error(
    error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "run %s has ended already: %s", pawl_id_short(run, text), pawl_run_state_name(row->state));
  pawl_run_row_free(row);
  return FALSE;
}

gboolean pawl_store_cancel_run(PawlStore *store, const PawlId *run, const char *reason, GError **error) {
  g_autofree char *why = reason_or_actor(store, reason);
  if (store->shared)
    return pawl_store_call(store, PAWL_SQL_API_CANCEL, NULL, error, PAWL_ROW(pawl_id(run), pawl_text(why), pawl_text(store->actor)));
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!cancel_checked(store, run, why, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}

static gint by_id(gconstpointer a, gconstpointer b) { return pawl_id_compare(a, b); }

gboolean pawl_store_cancel_some(
  PawlStore *store, const PawlId *task, const char *reason, guint limit, guint *ret_cancelled, gboolean *ret_more, GError **error) {
  g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_UNFINISHED_OF_TASK, runs, error, PAWL_ROW(pawl_id(task), PAWL_INT((gint64)limit + 1)))) return FALSE;
  guint n = MIN(runs->len, limit);
  gboolean more = runs->len > limit;
  g_array_set_size(runs, n);
  g_array_sort(runs, by_id); /* the order in which rows are locked */
  for (guint i = 0; i < n; i++)
    if (!cancel_unfinished(store, &g_array_index(runs, PawlId, i), reason, error)) return FALSE;
  *ret_cancelled = n;
  *ret_more = more;
  return TRUE;
}

/* Runs that come meanwhile are not chased for ever: the loop ends with a bite that was not full, and each bite makes a full one rarer. */
gboolean pawl_store_cancel_rest(PawlStore *store, const PawlId *task, const char *reason, guint *ret_cancelled, GError **error) {
  gboolean more = TRUE;
  while (more) {
    guint cancelled = 0;
    if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
    if (!pawl_store_cancel_some(store, task, reason, CANCEL_BITE, &cancelled, &more, error)) {
      pawl_db_rollback(store->db);
      return FALSE;
    }
    if (!pawl_db_commit(store->db, error)) return FALSE;
    *ret_cancelled += cancelled;
  }
  return TRUE;
}

gboolean pawl_store_cancel_task(
  PawlStore *store, const char *project, const char *task, const char *reason, guint *ret_cancelled, GError **error) {
  g_auto(PawlRef) ref = {0};
  guint cancelled = 0;
  g_autofree char *why = reason_or_actor(store, reason);
  if (!pawl_store_lookup(store, project, task, TRUE, &ref, error)) return FALSE;
  if (ref.trigger_name != NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "runs are cancelled by task: '%s'", ref.task_name);
    return FALSE;
  }
  if (!pawl_store_cancel_rest(store, &ref.task, why, &cancelled, error)) return FALSE;
  *ret_cancelled = cancelled;
  return TRUE;
}
