/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: what became of occurrences that did not turn into runs. One row a range: a fact that joins on to the trigger's newest row,
 * with the same outcome and reason and no run in between, makes that row longer. */
#include "store/schedules.h"
#include "store/store_private.h"

typedef struct {
  gint64 from_ms, to_ms;
  gboolean joins;
} NewestRange;

static gboolean newest_range(PawlStore *store, const PawlId *trigger, gint64 last_admitted_ms, const char *outcome, gint64 from_ms,
  const char *reason, NewestRange *ret, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_LEDGER_LAST, error, PAWL_ROW(pawl_id(trigger)));
  if (rows == NULL) return FALSE;
  ret->joins = FALSE;
  if (pawl_rows_next(rows, &failed)) {
    ret->from_ms = pawl_rows_int(rows, 0);
    ret->to_ms = pawl_rows_int(rows, 1);
    ret->joins = g_str_equal(pawl_rows_text(rows, 2), outcome) && g_strcmp0(pawl_rows_text(rows, 3), reason) == 0 && ret->to_ms < from_ms &&
                 last_admitted_ms <= ret->from_ms;
  }
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  return TRUE;
}

gboolean pawl_store_ledger_add(PawlStore *store, const PawlId *trigger, gint64 last_admitted_ms, const char *outcome, gint64 from_ms,
  gint64 to_ms, gint64 count, gboolean exact, const char *reason, GError **error) {
  NewestRange newest;
  if (!newest_range(store, trigger, last_admitted_ms, outcome, from_ms, reason, &newest, error)) return FALSE;
  if (newest.joins)
    return pawl_db_exec(store->db, PAWL_SQL_LEDGER_EXTEND, NULL, error,
      PAWL_ROW(pawl_id(trigger), PAWL_INT(newest.from_ms), PAWL_INT(newest.to_ms), pawl_text(outcome), PAWL_INT(to_ms), PAWL_INT(count),
        PAWL_INT(exact)));
  return pawl_db_exec(store->db, PAWL_SQL_LEDGER_INSERT, NULL, error,
    PAWL_ROW(
      pawl_id(trigger), PAWL_INT(from_ms), PAWL_INT(to_ms), pawl_text(outcome), PAWL_INT(count), PAWL_INT(exact), pawl_text(reason)));
}
