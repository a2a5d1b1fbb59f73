/* SPDX-License-Identifier: Apache-2.0 */
/* What is set at run time wins over the file until it is cleared. A pool that shrinks below its use ends nothing: nothing starts until
 * use has fallen. */
#include "base/error.h"
#include "store/publish.h"
#include "store/store_private.h"

static gboolean find_pool(PawlStore *store, const char *project, const char *pool, PawlId *ret_pool, GError **error) {
  GError *why = NULL;
  PawlId project_id;
  if (!pawl_store_lookup_project(store, project, &project_id, error)) return FALSE;
  if (pawl_store_pool_id(store, &project_id, pool, ret_pool, &why)) return TRUE;
  if (g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) {
    g_clear_error(&why);
    return pawl_store_not_found(store, "pool", pool, PAWL_SQL_POOL_NAMES, error, PAWL_ROW(pawl_id(&project_id)));
  }
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean override_inside(PawlStore *store, const char *project, const char *pool, gint slots, GError **error) {
  PawlId id;
  g_autofree char *text = slots == G_MININT ? g_strdup("none") : g_strdup_printf("%d", slots);
  if (!find_pool(store, project, pool, &id, error)) return FALSE;
  /* the gate first: whoever hands out by the old size has ended before the instant of the new one */
  return pawl_db_exec(store->db, PAWL_SQL_POOL_GATE_BUMP, NULL, error, PAWL_ROW(pawl_id(&id))) &&
         pawl_db_exec(
           store->db, PAWL_SQL_POOL_OVERRIDE, NULL, error, PAWL_ROW(pawl_id(&id), slots == G_MININT ? PAWL_NULL : PAWL_INT(slots))) &&
         pawl_store_act(store, &id, "pool.override", error, "slots", text, NULL);
}

gboolean pawl_store_pool_override(PawlStore *store, const char *project, const char *pool, gint slots, GError **error) {
  if (slots != G_MININT && slots < -1) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%d slots: expected -1 (unlimited), 0 (paused) or more", slots);
    return FALSE;
  }
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!override_inside(store, project, pool, slots, error)) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  return pawl_db_commit(store->db, error);
}
