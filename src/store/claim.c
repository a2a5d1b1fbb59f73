/* SPDX-License-Identifier: Apache-2.0 */
/* What is due, and on a shared store the lease on it.
 *
 * The token of a claim is made before the claim is sent. When its answer is lost, nobody knows whether rows are held under it: they are
 * given back by that token, and once a second again until the lease would have passed, because the claim may still be under way. */
#include "base/clock.h"
#include "base/error.h"
#include "store/schedules.h"
#include "store/store_private.h"

#define RELEASE_EVERY_MS 1000

typedef struct {
  PawlId token;
  gint64 until_mono_ms, next_mono_ms;
} PawlLostClaim;

GArray *pawl_lost_claims_new(void) { return g_array_new(FALSE, FALSE, sizeof(PawlLostClaim)); }

static void read_due(PawlRows *rows, const PawlId *token, PawlDueRow *row) {
  *row = (PawlDueRow){
    .trigger = pawl_rows_id(rows, 0),
    .task = pawl_rows_id(rows, 1),
    .project = pawl_rows_id(rows, 2),
    .trigger_revision = pawl_rows_int(rows, 3),
    .task_revision = pawl_rows_int(rows, 4),
    .cursor_ms = pawl_rows_int(rows, 5),
    .due_at_ms = pawl_rows_int(rows, 6),
    .last_scheduled_ms = pawl_rows_int(rows, 7),
    .last_admitted_ms = pawl_rows_int(rows, 8),
    .first_claimed_ms = pawl_rows_int(rows, 9),
    .made_up = pawl_rows_int(rows, 10),
    .state_version = pawl_rows_int(rows, 11),
    .claim_version = pawl_rows_int(rows, 12),
    .acquired_at_ms = pawl_rows_int(rows, 13),
    .claim_token = *token,
  };
}

static gboolean read_rows(PawlRows *due, const PawlId *token, GArray *rows, GError **error) {
  GError *failed = NULL;
  guint before = rows->len;
  if (due == NULL) return FALSE;
  while (pawl_rows_next(due, &failed)) {
    PawlDueRow row;
    read_due(due, token, &row);
    g_array_append_val(rows, row);
  }
  pawl_rows_close(due);
  if (failed == NULL) return TRUE;
  g_array_set_size(rows, before);
  g_propagate_error(error, failed);
  return FALSE;
}

/* ---- an embedded store: a read; what is decided on it is compared and set at admission ---- */

static gboolean read_due_rows(PawlStore *store, guint budget, GArray *rows, gint64 *ret_now_ms, GError **error) {
  guint before = rows->len;
  if (!read_rows(pawl_db_query(store->db, PAWL_SQL_CLAIM_DUE, error, PAWL_ROW(PAWL_INT(budget))), &PAWL_ID_NONE, rows, error)) return FALSE;
  if (rows->len == before) return pawl_store_now(store, ret_now_ms, error);
  *ret_now_ms = g_array_index(rows, PawlDueRow, rows->len - 1).acquired_at_ms;
  return TRUE;
}

/* ---- a shared one: a lease ---- */

static gint by_due(gconstpointer a, gconstpointer b) {
  const PawlDueRow *x = a, *y = b;
  if (x->due_at_ms != y->due_at_ms) return x->due_at_ms < y->due_at_ms ? -1 : 1;
  return pawl_id_compare(&x->trigger, &y->trigger);
}

static void note_lost(PawlStore *store, const PawlId *token) {
  gint64 now_ms = pawl_clock_mono_ms();
  PawlLostClaim lost = {*token, now_ms + store->claim_lease_ms + RELEASE_EVERY_MS, now_ms};
  g_array_append_val(store->lost_claims, lost);
}

static gboolean take_due_rows(PawlStore *store, guint budget, GArray *rows, GError **error) {
  GError *failed = NULL;
  PawlId token = pawl_id_random();
  guint before = rows->len;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  PawlRows *due = pawl_db_query(store->db, PAWL_SQL_CLAIM_TAKE, &failed,
    PAWL_ROW(PAWL_INT(budget), pawl_text(store->replica), pawl_id(&token), PAWL_INT(store->claim_lease_ms)));
  gboolean ok = read_rows(due, &token, rows, &failed);
  if (ok) ok = pawl_db_commit(store->db, &failed);
  if (!ok) {
    pawl_db_rollback(store->db);
    g_array_set_size(rows, before);
    if (g_error_matches(failed, PAWL_ERROR, PAWL_ERROR_AMBIGUOUS)) note_lost(store, &token);
    g_propagate_error(error, failed);
    return FALSE;
  }
  g_array_sort(rows, by_due);
  return TRUE;
}

void pawl_store_claim_give_back(PawlStore *store, const PawlDueRow *row) {
  gboolean noted = !store->shared;
  for (guint i = 0; !noted && i < store->lost_claims->len; i++)
    noted = pawl_id_equal(&g_array_index(store->lost_claims, PawlLostClaim, i).token, &row->claim_token);
  if (!noted) note_lost(store, &row->claim_token);
}

gboolean pawl_store_release_lost(PawlStore *store, GError **error) {
  gint64 now_ms = pawl_clock_mono_ms();
  for (guint i = 0; i < store->lost_claims->len;) {
    PawlLostClaim *lost = &g_array_index(store->lost_claims, PawlLostClaim, i);
    if (lost->next_mono_ms <= now_ms) {
      if (!pawl_db_exec(store->db, PAWL_SQL_CLAIM_RELEASE, NULL, error, PAWL_ROW(pawl_text(store->replica), pawl_id(&lost->token))))
        return FALSE;
      lost->next_mono_ms = now_ms + RELEASE_EVERY_MS;
    }
    if (lost->until_mono_ms <= now_ms)
      g_array_remove_index_fast(store->lost_claims, i);
    else
      i++;
  }
  return TRUE;
}

gboolean pawl_store_claim(PawlStore *store, guint budget, GArray *rows, gint64 *ret_now_ms, GError **error) {
  gint64 now_ms = 0;
  if (!store->shared) return read_due_rows(store, budget, rows, ret_now_ms, error);
  if (!take_due_rows(store, budget, rows, error)) return FALSE;
  if (rows->len > 0) now_ms = g_array_index(rows, PawlDueRow, 0).acquired_at_ms;
  *ret_now_ms = now_ms;
  return TRUE;
}

gboolean pawl_store_next_due(PawlStore *store, gint64 now_ms, gint64 *ret_next_due_ms, GError **error) {
  *ret_next_due_ms = 0;
  return store->shared || pawl_store_int(store, PAWL_SQL_CLAIM_NEXT, ret_next_due_ms, error, PAWL_ROW(PAWL_INT(now_ms)));
}

gboolean pawl_store_look(PawlStore *store, PawlLook *ret_look, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_ENGINE_LOOK, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  gint64 now_ms = pawl_rows_int(rows, 0), wake_ms = pawl_rows_int(rows, 5);
  *ret_look = (PawlLook){.now_ms = now_ms,
    .due = pawl_rows_int(rows, 1) != 0,
    .next_due_ms = pawl_rows_int(rows, 2),
    .rearm_ms = pawl_rows_int(rows, 3),
    .wake_ms = wake_ms,
    .work = pawl_rows_int(rows, 4) != 0 || (wake_ms != 0 && wake_ms <= now_ms) || pawl_rows_int(rows, 6) != 0,
    .newest_ms = pawl_rows_int(rows, 7),
    .expired = pawl_rows_int(rows, 8) != 0};
  return TRUE;
}
