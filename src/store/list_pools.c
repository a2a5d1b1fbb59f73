/* SPDX-License-Identifier: Apache-2.0 */
#include "store/runs.h"
#include "store/store_private.h"

void pawl_pool_row_free(PawlPoolRow *row) {
  if (row == NULL) return;
  g_free(row->project);
  g_free(row->name);
  g_free(row->state);
  g_free(row);
}

/* active, paused (no slots, or stopped), draining, over (shrunk below its use). */
static const char *pool_state(const char *stored, gint slots, gint used) {
  if (!g_str_equal(stored, "active")) return stored;
  if (slots == 0) return "paused";
  return slots > 0 && used > slots ? "over" : "active";
}

gboolean pawl_store_pools(PawlStore *store, GPtrArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_POOLS_LIST, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlPoolRow *row = g_new0(PawlPoolRow, 1);
    row->project = g_strdup(pawl_rows_text(rows, 0));
    row->name = g_strdup(pawl_rows_text(rows, 1));
    row->slots_file = (gint)pawl_rows_int(rows, 3);
    row->overridden = !pawl_rows_is_null(rows, 4);
    row->slots = row->overridden ? (gint)pawl_rows_int(rows, 4) : row->slots_file;
    row->used = (gint)pawl_rows_int(rows, 5);
    row->waiting = (gint)pawl_rows_int(rows, 6);
    row->state = g_strdup(pool_state(pawl_rows_text(rows, 2), row->slots, row->used));
    g_ptr_array_add(list, row);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}
