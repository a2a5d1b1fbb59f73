/* SPDX-License-Identifier: Apache-2.0 */
/* Row locks. Lock first, look later: what decides is read in a statement after these. */
#include "base/error.h"
#include "store/store_private.h"

static gboolean lock_one(PawlStore *store, PawlSql sql, const PawlId *id, GError **error) {
  return !store->shared || pawl_db_exec(store->db, sql, NULL, error, PAWL_ROW(pawl_id(id)));
}

gboolean pawl_lock_project(PawlStore *store, const char *name, GError **error) {
  return !store->shared || pawl_db_exec(store->db, PAWL_SQL_PROJECT_LOCK, NULL, error, PAWL_ROW(pawl_text(name)));
}

gboolean pawl_lock_schedules(PawlStore *store, const PawlId *project, GError **error) {
  return lock_one(store, PAWL_SQL_SCHEDULES_LOCK_PROJECT, project, error);
}

gboolean pawl_lock_task(PawlStore *store, const PawlId *task, GError **error) {
  return lock_one(store, PAWL_SQL_TASK_LOCK, task, error) && lock_one(store, PAWL_SQL_SCHEDULES_LOCK_TASK, task, error);
}

gboolean pawl_lock_schedule(PawlStore *store, const PawlId *trigger, GError **error) {
  return lock_one(store, PAWL_SQL_SCHEDULES_LOCK, trigger, error);
}

gboolean pawl_lock_ref(PawlStore *store, const PawlRef *ref, GError **error) {
  return ref->trigger_name != NULL ? pawl_lock_schedule(store, &ref->trigger, error) : pawl_lock_task(store, &ref->task, error);
}

gboolean pawl_lock_finish(PawlStore *store, const PawlMany *runs, GError **error) {
  return !store->shared || pawl_many_exec(store, runs, NULL, error);
}

gboolean pawl_try_task_gate(PawlStore *store, const PawlId *task, gboolean *ret_held, GError **error) {
  GError *failed = NULL;
  *ret_held = TRUE;
  if (!store->shared) return TRUE;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASK_GATE_TRY, error, PAWL_ROW(pawl_id(task)));
  if (rows == NULL) return FALSE;
  *ret_held = pawl_rows_next(rows, &failed);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}
