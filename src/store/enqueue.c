/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/error.h"
#include "store/runs.h"
#include "store/schedules.h"
#include "store/store_private.h"

static gboolean check(const PawlEnqueue *request, GError **error) {
  if (request->priority != NULL && (*request->priority < PAWL_PRIORITY_MIN || *request->priority > PAWL_PRIORITY_MAX)) {
    g_set_error(
      error, PAWL_ERROR, PAWL_ERROR_INVALID, "priority %d: expected %d to %d", *request->priority, PAWL_PRIORITY_MIN, PAWL_PRIORITY_MAX);
    return FALSE;
  }
  if (request->start_at_ms < 0 || request->start_at_ms > PAWL_AT_MAX_MS) {
    g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_INVALID, "a start before 1970 or after 2900");
    return FALSE;
  }
  if (request->input != NULL && !g_utf8_validate(request->input, -1, NULL)) {
    g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_INVALID, "the input is not UTF-8");
    return FALSE;
  }
  return TRUE;
}

static gboolean enqueue_inside(PawlStore *store, const PawlEnqueue *request, PawlId *ret_run, GError **error) {
  g_auto(PawlRef) ref = {0};
  gint64 now_ms;
  gboolean created = FALSE;
  PawlNewRun run = {0};
  if (!pawl_store_lookup(store, request->project, request->task, FALSE, &ref, error) || !pawl_store_now(store, &now_ms, error))
    return FALSE;
  if (ref.trigger_name != NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "a run is asked of a task: '%s'", ref.task_name);
    return FALSE;
  }
  const PawlTaskSpec *spec = pawl_store_task_spec(store, &ref.task, ref.task_revision, error);
  if (spec == NULL || !pawl_store_pool_id(store, &ref.project, spec->pool, &run.pool, error)) return FALSE;
  run.id = pawl_id_new(now_ms);
  run.project = ref.project;
  run.task = ref.task;
  run.task_revision = ref.task_revision;
  run.origin = request->origin != NULL ? request->origin : "manual";
  run.queued_at_ms = now_ms;
  run.start_at_ms = request->start_at_ms;
  run.start_by_at_ms = spec->start_within_ms != 0 ? MAX(now_ms, request->start_at_ms) + spec->start_within_ms : 0;
  run.priority = request->priority != NULL ? *request->priority : spec->priority;
  run.slots = spec->slots;
  run.requested_by = store->actor;
  run.input = request->input;
  if (!pawl_store_run_create(store, &run, &created, error)) return FALSE;
  *ret_run = run.id;
  return TRUE;
}

/* On a shared store through the function that SQL users call: one way in, whatever role this is. */
static gboolean enqueue_shared(PawlStore *store, const PawlEnqueue *request, PawlId *ret_run, GError **error) {
  PawlId run = pawl_id_new(pawl_clock_wall_ms());
  return pawl_store_call(store, PAWL_SQL_API_ENQUEUE, ret_run, error,
    PAWL_ROW(pawl_text(request->task), pawl_text(request->input), pawl_text(request->project),
      request->priority != NULL ? PAWL_INT(*request->priority) : PAWL_NULL, pawl_int_or_null(request->start_at_ms), pawl_text(store->actor),
      pawl_text(request->origin != NULL ? request->origin : "manual"), pawl_id(&run)));
}

gboolean pawl_store_enqueue(PawlStore *store, const PawlEnqueue *request, PawlId *ret_run, GError **error) {
  PawlId run;
  if (store->shared) return check(request, error) && enqueue_shared(store, request, ret_run, error);
  if (!check(request, error) || !pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!enqueue_inside(store, request, &run, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_run = run;
  return TRUE;
}
