/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where runs come into being: run row, hot row, run.created, run.queued. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/store_private.h"

static gboolean is_later(const PawlNewRun *run) { return run->start_at_ms > run->queued_at_ms; }

static gboolean insert_runs(PawlStore *store, const PawlNewRun *runs, guint n, gint64 *changed, GError **error) {
  g_autoptr(PawlMany) rows = pawl_many_new(PAWL_SQL_RUN_INSERT);
  for (guint i = 0; i < n; i++) {
    const PawlNewRun *run = &runs[i];
    pawl_many_add(rows,
      PAWL_ROW(pawl_id(&run->id), pawl_id(&run->project), pawl_id(&run->task), PAWL_INT(run->task_revision), pawl_id(run->trigger),
        pawl_int_or_null(run->trigger_revision), pawl_text(run->origin), pawl_int_or_null(run->nominal_at_ms), PAWL_INT(run->queued_at_ms),
        PAWL_INT(run->priority), pawl_id(run->retry_of), pawl_text(run->requested_by), pawl_text(run->input)));
  }
  return pawl_many_exec(store, rows, changed, error);
}

static void add_hot(PawlMany *ready, PawlMany *parked, const PawlNewRun *run) {
  gint64 order_key = pawl_order_key(MAX(run->queued_at_ms, run->start_at_ms), run->priority);
  if (is_later(run))
    pawl_many_add(
      parked, PAWL_ROW(pawl_id(&run->id), PAWL_INT(1), pawl_id(&run->task), pawl_id(&run->pool), PAWL_INT(run->slots), PAWL_INT(order_key),
                PAWL_INT(run->trigger_born), PAWL_INT(0), PAWL_INT(0), pawl_int_or_null(run->start_by_at_ms), PAWL_INT(run->queued_at_ms),
                pawl_text("start_at"), PAWL_NULL, PAWL_INT(run->start_at_ms)));
  else
    pawl_many_add(
      ready, PAWL_ROW(pawl_id(&run->id), PAWL_INT(1), pawl_id(&run->task), pawl_id(&run->pool), PAWL_INT(run->slots), PAWL_INT(order_key),
               PAWL_INT(run->trigger_born), PAWL_INT(0), PAWL_INT(0), pawl_int_or_null(run->start_by_at_ms), PAWL_INT(run->queued_at_ms)));
}

gboolean pawl_store_runs_create(PawlStore *store, const PawlNewRun *runs, guint n, gboolean *ret_created, GError **error) {
  g_autofree gint64 *changed = g_new0(gint64, MAX(n, 1));
  if (!insert_runs(store, runs, n, changed, error)) return FALSE;
  PAWL_FAULT("admit.between_run_and_ready");
  const PawlTransition *admit = pawl_machine_find(PAWL_ATTEMPT_NONE, PAWL_EVENT_ADMIT, FALSE);
  g_autoptr(PawlMany) ready = pawl_many_new(PAWL_SQL_READY_INSERT);
  g_autoptr(PawlMany) parked = pawl_many_new(PAWL_SQL_PARKED_INSERT);
  g_autoptr(PawlMany) events = pawl_many_new(PAWL_SQL_EVENT_APPEND);
  for (guint i = 0; i < n; i++) {
    const PawlNewRun *run = &runs[i];
    ret_created[i] = changed[i] > 0;
    if (!ret_created[i]) continue;
    add_hot(ready, parked, run);
    pawl_many_add(events, PAWL_ROW(pawl_id(&run->id), pawl_text("run.created"), PAWL_NULL, PAWL_NULL, PAWL_NULL));
    pawl_many_add(events,
      PAWL_ROW(pawl_id(&run->id), pawl_text(is_later(run) ? "run.scheduled" : "run.queued"), PAWL_INT(1), PAWL_INT(admit->row), PAWL_NULL));
  }
  return pawl_many_exec(store, ready, NULL, error) && pawl_many_exec(store, parked, NULL, error) &&
         pawl_many_exec(store, events, NULL, error);
}

gboolean pawl_store_run_create(PawlStore *store, const PawlNewRun *run, gboolean *ret_created, GError **error) {
  return pawl_store_runs_create(store, run, 1, ret_created, error);
}

gboolean pawl_store_pool_id(PawlStore *store, const PawlId *project, const char *name, PawlId *ret_pool, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_POOL_BY_NAME, error, PAWL_ROW(pawl_id(project), pawl_text(name)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &failed)) {
    *ret_pool = pawl_rows_id(rows, 0);
    return TRUE;
  }
  if (failed != NULL)
    g_propagate_error(error, failed);
  else
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no pool '%s'", name);
  return FALSE;
}
