/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, and the life of a lease between its grant and its end: start, renewal. */
#include "base/fault.h"
#include "store/dispatch.h"
#include "store/store_private.h"

gboolean pawl_store_session_open(PawlStore *store, const PawlSession *session, gint64 *ret_generation, GError **error) {
  gint64 generation;
  PawlDb *db = store->db;
  if (!pawl_db_begin(db, PAWL_TX_WRITE, error)) return FALSE;
  if (!pawl_db_exec(db, PAWL_SQL_SESSION_END_OLDER, NULL, error, PAWL_ROW(pawl_id(&session->id), pawl_text(session->name))) ||
      !pawl_db_exec(db, PAWL_SQL_SESSION_TRIM, NULL, error, PAWL_NO_PARAMS) ||
      !pawl_db_exec(db, PAWL_SQL_SESSION_INSERT, NULL, error,
        PAWL_ROW(pawl_id(&session->id), pawl_text(session->name), PAWL_INT(session->capacity), pawl_text(session->boot_id),
          PAWL_INT(session->pid), pawl_text(PAWL_VERSION))) ||
      !pawl_store_int(store, PAWL_SQL_SESSION_GENERATION, &generation, error, PAWL_ROW(pawl_id(&session->id)))) {
    pawl_db_rollback(db);
    return FALSE;
  }
  if (!pawl_db_commit(db, error)) return FALSE;
  *ret_generation = generation;
  return TRUE;
}

gboolean pawl_store_session_close(PawlStore *store, const PawlId *session, GError **error) {
  return pawl_db_exec(store->db, PAWL_SQL_SESSION_CLOSE, NULL, error, PAWL_ROW(pawl_id(session)));
}

static gboolean start_one(PawlStore *store, PawlStart *start, GError **error) {
  gint64 changed = 0;
  gboolean process = start->boot_id[0] != '\0';
  g_autofree char *digest = pawl_digest((const char *)start->token.b, PAWL_ID_BYTES);
  if (!pawl_db_exec(store->db, PAWL_SQL_LEASE_START, &changed, error,
        PAWL_ROW(pawl_id(&start->run), PAWL_INT(start->attempt), PAWL_INT(start->lease_version), pawl_text(digest),
          pawl_text(process ? start->boot_id : NULL), process ? PAWL_INT(start->pid) : PAWL_NULL,
          process ? PAWL_INT(start->start_ticks) : PAWL_NULL)))
    return FALSE;
  start->accepted = changed == 1;
  const PawlTransition *row = pawl_machine_find(PAWL_ATTEMPT_LEASED, PAWL_EVENT_START, FALSE);
  return !start->accepted || pawl_store_event(store, &start->run, "attempt.started", start->attempt, row->row, NULL, error);
}

/* Leases are taken in the order of their runs' ids: starts, renewals and ends of one session meet in them. The caller's order stays. */
static gint by_start(gconstpointer a, gconstpointer b) {
  return pawl_id_compare(&(*(PawlStart *const *)a)->run, &(*(PawlStart *const *)b)->run);
}

static gint by_renewal(gconstpointer a, gconstpointer b) {
  return pawl_id_compare(&(*(PawlRenewal *const *)a)->run, &(*(PawlRenewal *const *)b)->run);
}

gboolean pawl_store_start(PawlStore *store, PawlStart *starts, guint n, GError **error) {
  gboolean ok = TRUE;
  g_autoptr(GPtrArray) ordered = g_ptr_array_sized_new(n);
  for (guint i = 0; i < n; i++) g_ptr_array_add(ordered, &starts[i]);
  g_ptr_array_sort(ordered, by_start);
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  for (guint i = 0; ok && i < n; i++) ok = start_one(store, ordered->pdata[i], error);
  PAWL_FAULT("start.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  PAWL_FAULT("start.after_commit");
  if (ok) return TRUE;
  pawl_db_rollback(store->db);
  for (guint i = 0; i < n; i++) starts[i].accepted = FALSE;
  return FALSE;
}

static gboolean renew_one(PawlStore *store, const PawlId *session, gint64 lease_ms, PawlRenewal *renewal, GError **error) {
  gint64 changed = 0, asked = 0;
  g_autofree char *digest = pawl_digest((const char *)renewal->token.b, PAWL_ID_BYTES);
  if (!pawl_db_exec(store->db, PAWL_SQL_LEASE_RENEW, &changed, error,
        PAWL_ROW(pawl_id(&renewal->run), PAWL_INT(renewal->attempt), PAWL_INT(renewal->lease_version), pawl_text(digest), pawl_id(session),
          PAWL_INT(lease_ms))) ||
      !pawl_store_int(store, PAWL_SQL_CANCEL_EXISTS, &asked, error, PAWL_ROW(pawl_id(&renewal->run))))
    return FALSE;
  renewal->renewed = changed == 1;
  renewal->cancel_asked = asked != 0;
  return TRUE;
}

gboolean pawl_store_renew(PawlStore *store, const PawlId *session, gint64 lease_ms, PawlRenewal *renewals, guint n, GError **error) {
  gboolean ok = TRUE;
  g_autoptr(GPtrArray) ordered = g_ptr_array_sized_new(n);
  for (guint i = 0; i < n; i++) g_ptr_array_add(ordered, &renewals[i]);
  g_ptr_array_sort(ordered, by_renewal);
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  for (guint i = 0; ok && i < n; i++) ok = renew_one(store, session, lease_ms, ordered->pdata[i], error);
  if (ok) ok = pawl_db_exec(store->db, PAWL_SQL_SESSION_BEAT, NULL, error, PAWL_ROW(pawl_id(session)));
  if (ok) ok = pawl_db_commit(store->db, error);
  if (!ok) pawl_db_rollback(store->db);
  return ok;
}

gboolean pawl_store_cancelled_leases(PawlStore *store, const PawlId *session, GArray *cancelled, GError **error) {
  return pawl_store_ids(store, PAWL_SQL_LEASE_CANCELLED, cancelled, error, PAWL_ROW(pawl_id(session)));
}

gboolean pawl_store_waiting(PawlStore *store, gint64 *ret_ready, gint64 *ret_next_wake_at_ms, GError **error) {
  gint64 ready, wake_at_ms;
  if (!pawl_store_int(store, PAWL_SQL_WAITING_READY, &ready, error, PAWL_NO_PARAMS) ||
      !pawl_store_int(store, PAWL_SQL_WAITING_WAKE, &wake_at_ms, error, PAWL_NO_PARAMS))
    return FALSE;
  *ret_ready = ready;
  *ret_next_wake_at_ms = wake_at_ms;
  return TRUE;
}
