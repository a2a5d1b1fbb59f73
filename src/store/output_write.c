/* SPDX-License-Identifier: Apache-2.0 */
/* Output of attempts that run. */
#include "base/fault.h"
#include "store/dispatch.h"
#include "store/store_private.h"

gboolean pawl_store_output_append(
  PawlStore *store, const PawlOutputRow *rows, guint n, const PawlOutputDrop *drops, guint n_drops, GError **error) {
  gboolean ok = TRUE;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  for (guint i = 0; ok && i < n_drops; i++)
    ok = pawl_db_exec(store->db, PAWL_SQL_OUTPUT_DROP, NULL, error,
      PAWL_ROW(pawl_id(&drops[i].run), PAWL_INT(drops[i].attempt), PAWL_INT(drops[i].from_seq), PAWL_INT(drops[i].before_seq)));
  for (guint i = 0; ok && i < n; i++)
    ok = pawl_db_exec(store->db, PAWL_SQL_OUTPUT_INSERT, NULL, error,
      PAWL_ROW(pawl_id(&rows[i].run), PAWL_INT(rows[i].attempt), PAWL_INT(rows[i].lease_version), PAWL_INT(rows[i].seq),
        PAWL_INT(rows[i].at_ms), PAWL_INT(rows[i].stream), pawl_blob(rows[i].bytes, rows[i].n_bytes)));
  PAWL_FAULT("output.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  if (!ok) pawl_db_rollback(store->db);
  return ok;
}
