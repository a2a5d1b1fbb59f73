/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where a run comes into being: run row, hot row, run.created, run.queued. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/store_private.h"

static gboolean insert_hot(PawlStore *store, const PawlNewRun *run, gboolean later, GError **error) {
  gint64 order_key = pawl_order_key(MAX(run->queued_at_ms, run->start_at_ms), run->priority);
  if (later)
    return pawl_db_exec(store->db, PAWL_SQL_PARKED_INSERT, NULL, error,
      PAWL_ROW(pawl_id(&run->id), PAWL_INT(1), pawl_id(&run->task), pawl_id(&run->pool), PAWL_INT(run->slots), PAWL_INT(order_key),
        PAWL_INT(run->trigger_born), PAWL_INT(0), PAWL_INT(0), pawl_int_or_null(run->start_by_at_ms), PAWL_INT(run->queued_at_ms),
        pawl_text("start_at"), PAWL_NULL, PAWL_INT(run->start_at_ms)));
  return pawl_db_exec(store->db, PAWL_SQL_READY_INSERT, NULL, error,
    PAWL_ROW(pawl_id(&run->id), PAWL_INT(1), pawl_id(&run->task), pawl_id(&run->pool), PAWL_INT(run->slots), PAWL_INT(order_key),
      PAWL_INT(run->trigger_born), PAWL_INT(0), PAWL_INT(0), pawl_int_or_null(run->start_by_at_ms), PAWL_INT(run->queued_at_ms)));
}

gboolean pawl_store_run_create(PawlStore *store, const PawlNewRun *run, gboolean *ret_created, GError **error) {
  gint64 changed = 0;
  if (!pawl_db_exec(store->db, PAWL_SQL_RUN_INSERT, &changed, error,
        PAWL_ROW(pawl_id(&run->id), pawl_id(&run->project), pawl_id(&run->task), PAWL_INT(run->task_revision), pawl_id(run->trigger),
          pawl_int_or_null(run->trigger_revision), pawl_text(run->origin), pawl_int_or_null(run->nominal_at_ms),
          PAWL_INT(run->queued_at_ms), PAWL_INT(run->priority), pawl_id(run->retry_of), pawl_text(run->requested_by),
          pawl_text(run->input))))
    return FALSE;
  if (changed == 0) {
    *ret_created = FALSE;
    return TRUE;
  }
  gboolean later = run->start_at_ms > run->queued_at_ms;
  PAWL_FAULT("admit.between_run_and_ready");
  if (!insert_hot(store, run, later, error)) return FALSE;
  const PawlTransition *admit = pawl_machine_find(PAWL_ATTEMPT_NONE, PAWL_EVENT_ADMIT, FALSE);
  if (!pawl_store_event(store, &run->id, "run.created", 0, 0, NULL, error) ||
      !pawl_store_event(store, &run->id, later ? "run.scheduled" : "run.queued", 1, admit->row, NULL, error))
    return FALSE;
  *ret_created = TRUE;
  return TRUE;
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
