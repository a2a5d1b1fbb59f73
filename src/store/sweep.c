/* SPDX-License-Identifier: Apache-2.0 */
/* The nets of a shared store, each a short transaction that waits for nobody. What they find was left over by two who wrote at the same
 * time and could not see each other; an embedded store has one writer. */
#include "store/dispatch.h"
#include "store/store_private.h"

#define SWEEP_ROWS 500

static gboolean sweep(PawlStore *store, PawlSql sql, guint *ret_settled, GError **error) {
  gint64 settled = 0;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  if (!pawl_store_int(store, sql, &settled, error, PAWL_ROW(PAWL_INT(SWEEP_ROWS)))) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_settled += (guint)settled;
  return TRUE;
}

gboolean pawl_store_sweep(PawlStore *store, guint *ret_settled, GError **error) {
  guint settled = 0;
  if (!store->shared) return TRUE;
  if (!sweep(store, PAWL_SQL_CANCEL_SWEEP, &settled, error) || !sweep(store, PAWL_SQL_WAITING_TIDY, &settled, error)) return FALSE;
  *ret_settled = settled;
  return TRUE;
}
