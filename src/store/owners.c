/* SPDX-License-Identifier: Apache-2.0 */
#include "store/publish.h"
#include "store/store_private.h"

gboolean pawl_store_owners(PawlStore *store, void (*each)(const char *mark, gint64 tasks, gpointer data), gpointer data, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASK_OWNERS, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) each(pawl_rows_text(rows, 0), pawl_rows_int(rows, 1), data);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}
