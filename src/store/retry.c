/* SPDX-License-Identifier: Apache-2.0 */
/* A retry of a finished run is a run of its own. It keeps trigger and nominal time, so that the work knows for which instant it runs, and
 * counts as born of the trigger: the overlap rule holds for it, it waits and is never dropped. start_within counts from now. */
#include "base/error.h"
#include "store/runs.h"
#include "store/schedules.h"
#include "store/store_private.h"

typedef struct {
  PawlNewRun run;
  PawlId trigger;
  char *input;
} Retry;

static void retry_clear(Retry *retry) { g_free(retry->input); }
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Retry, retry_clear)

static gboolean read_old(PawlStore *store, const PawlId *run, Retry *retry, GError **error) {
  GError *why = NULL;
  char text[PAWL_ID_TEXT];
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_RUN_TO_RETRY, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &why)) {
    if (why == NULL) why = g_error_new(PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no run %s", pawl_id_text(run, text));
    g_propagate_error(error, why);
    return FALSE;
  }
  if (!g_str_equal(pawl_rows_text(rows, 2), "active")) {
    g_set_error(
      error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "task '%s' was deleted; apply it again before its runs are retried", pawl_rows_text(rows, 8));
    return FALSE;
  }
  retry->run = (PawlNewRun){.project = pawl_rows_id(rows, 0),
    .task = pawl_rows_id(rows, 1),
    .task_revision = pawl_rows_int(rows, 3),
    .trigger_revision = pawl_rows_int(rows, 5),
    .nominal_at_ms = pawl_rows_int(rows, 6),
    .origin = "retry"};
  retry->trigger = pawl_rows_id(rows, 4);
  if (!pawl_rows_is_null(rows, 4)) {
    retry->run.trigger = &retry->trigger;
    retry->run.trigger_born = TRUE;
  }
  retry->input = g_strdup(pawl_rows_text(rows, 7));
  retry->run.input = retry->input;
  return TRUE;
}

static gboolean retry_inside(PawlStore *store, const PawlId *old, PawlId *ret_run, GError **error) {
  g_auto(Retry) retry = {0};
  GError *why = NULL;
  char text[PAWL_ID_TEXT];
  gint64 now_ms;
  gboolean created = FALSE;
  if (!read_old(store, old, &retry, error) || !pawl_store_now(store, &now_ms, error)) return FALSE;
  g_autofree char *stand = pawl_store_string(store, PAWL_SQL_RUN_STAND, &why, PAWL_ROW(pawl_id(old)));
  if (why != NULL || g_strcmp0(stand, "nowhere") != 0) {
    if (why == NULL) why = g_error_new(PAWL_ERROR, PAWL_ERROR_CONFLICT, "run %s has not ended yet", pawl_id_short(old, text));
    g_propagate_error(error, why);
    return FALSE;
  }
  PawlNewRun *run = &retry.run;
  const PawlTaskSpec *spec = pawl_store_task_spec(store, &run->task, run->task_revision, error);
  if (spec == NULL || !pawl_store_pool_id(store, &run->project, spec->pool, &run->pool, error)) return FALSE;
  run->id = pawl_id_new(now_ms);
  run->retry_of = old;
  run->queued_at_ms = now_ms;
  run->start_by_at_ms = spec->start_within_ms != 0 ? now_ms + spec->start_within_ms : 0;
  run->priority = spec->priority;
  run->slots = spec->slots;
  run->requested_by = store->actor;
  if (!pawl_store_run_create(store, run, &created, error)) return FALSE;
  *ret_run = run->id;
  return TRUE;
}

gboolean pawl_store_retry(PawlStore *store, const PawlId *run, PawlId *ret_run, GError **error) {
  PawlId made;
  if (store->shared) return pawl_store_call(store, PAWL_SQL_API_RETRY, ret_run, error, PAWL_ROW(pawl_id(run), pawl_text(store->actor)));
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!retry_inside(store, run, &made, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_run = made;
  return TRUE;
}
