/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict on a COMMIT whose answer was lost: on a new connection, in one transaction.
 *
 * (1) Lock the schedule row. That waits for the old backend, whose transaction ends by its own idle timeout at the latest; if it does not, the
 * driver ends the old backend, and the caller asks again. (2) In a later statement look whether it happened: its run exists, or for a decision that made none the cursor has moved
 * on. (3) If it did not, and the claim is still ours, put a new token on it, so that bytes which are still under way find nothing. The
 * acknowledged COMMIT of this transaction is what makes the verdict definite. */
#include "base/error.h"
#include "store/schedules.h"
#include "store/store_private.h"

static gboolean lock_row(PawlStore *store, const PawlId *trigger, GError **error) {
  return pawl_db_begin(store->db, PAWL_TX_WRITE, error) && pawl_lock_schedule(store, trigger, error);
}

/* Every run of the decision exists, or none does: they were one transaction. Without a run the cursor tells. */
static gboolean happened(PawlStore *store, const PawlAdmission *admission, gboolean *ret, GError **error) {
  const PawlDueRow *row = &admission->row;
  g_auto(PawlSchedule) schedule = {0};
  for (guint i = 0; i < admission->decision.n_admit; i++) {
    gint64 same = 0, nominal_ms = admission->decision.admit_ms[i];
    PawlId run = pawl_id_derive(&row->trigger, nominal_ms);
    if (!pawl_store_int(
          store, PAWL_SQL_RUN_SAME_OCCURRENCE, &same, error, PAWL_ROW(pawl_id(&run), pawl_id(&row->trigger), PAWL_INT(nominal_ms))))
      return FALSE;
    if (same == 0) continue;
    *ret = TRUE;
    return TRUE;
  }
  if (!pawl_schedule_read(store, &row->trigger, &schedule, error)) return FALSE;
  *ret = schedule.last_scheduled_ms > row->last_scheduled_ms;
  return TRUE;
}

static gboolean renew(PawlStore *store, PawlAdmission *admission, GError **error) {
  GError *failed = NULL;
  PawlDueRow *row = &admission->row;
  PawlId token = pawl_id_random();
  admission->outcome = PAWL_ADMIT_RACED;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_CLAIM_RENEW, error,
    PAWL_ROW(pawl_id(&row->trigger), pawl_text(store->replica), pawl_id(&row->claim_token), PAWL_INT(row->claim_version), pawl_id(&token)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &failed)) {
    row->state_version = pawl_rows_int(rows, 0);
    row->claim_version = pawl_rows_int(rows, 1);
    row->claim_token = token;
    admission->outcome = PAWL_ADMIT_PENDING;
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

gboolean pawl_store_resolve(PawlStore *store, PawlAdmission *admission, GError **error) {
  PawlDueRow before = admission->row;
  gboolean done = FALSE;
  gboolean ok = lock_row(store, &before.trigger, error) && happened(store, admission, &done, error);
  if (ok && !done) ok = renew(store, admission, error);
  if (ok) ok = pawl_db_commit(store->db, error);
  if (!ok) {
    pawl_db_rollback(store->db);
    admission->row = before;
    return FALSE;
  }
  if (done) admission->outcome = PAWL_ADMIT_DONE;
  return TRUE;
}
