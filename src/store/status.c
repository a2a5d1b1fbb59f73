/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "store/runs_private.h"

#define SHOWN_FAILED 5
#define SHOWN_RUNNING 10
#define SHOWN_COMING 5
#define FAILED_LOOK 200 /* bad ends that are looked at for those five; cancelled runs are none */

static void coming_free(gpointer data) {
  PawlComing *coming = data;
  g_free(coming->task);
  g_free(coming->trigger);
  g_free(coming);
}

void pawl_status_free(PawlStatus *status) {
  if (status == NULL) return;
  g_ptr_array_unref(status->failed);
  g_ptr_array_unref(status->running_rows);
  g_ptr_array_unref(status->coming);
  g_free(status);
}

static gboolean read_counts(PawlStore *store, PawlStatus *status, GError **error) {
  gint64 now_ms;
  if (!pawl_store_now(store, &now_ms, error)) return FALSE;
  {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_STATUS_COUNTS, error, PAWL_ROW(PAWL_INT(now_ms - PAWL_DAY_MS)));
    if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
    status->now_ms = pawl_rows_int(rows, 0);
    status->tasks = pawl_rows_int(rows, 1);
    status->triggers = pawl_rows_int(rows, 2);
    status->paused = pawl_rows_int(rows, 3);
    status->quarantined = pawl_rows_int(rows, 4);
    status->running = pawl_rows_int(rows, 5);
    status->waiting = pawl_rows_int(rows, 6);
    status->parked = pawl_rows_int(rows, 7);
    status->manual = pawl_rows_int(rows, 8);
    status->failed_day = pawl_rows_int(rows, 9);
    gint64 due_ms = pawl_rows_int(rows, 10), waiting_ms = pawl_rows_int(rows, 11);
    status->oldest_due_ms = due_ms != 0 ? MAX(now_ms - due_ms, 0) : 0;
    status->oldest_waiting_ms = waiting_ms != 0 ? MAX(now_ms - waiting_ms, 0) : 0;
  }
  /* an id tells when a run was due; those that took up to a day to end are found too */
  PawlId from = pawl_id_floor(now_ms - 2 * PAWL_DAY_MS);
  return pawl_store_int(
    store, PAWL_SQL_STATUS_SUCCEEDED, &status->succeeded_day, error, PAWL_ROW(pawl_id(&from), PAWL_INT(now_ms - PAWL_DAY_MS)));
}

static gboolean failed_ids(PawlStore *store, GArray *ids, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows =
    pawl_db_query(store->db, PAWL_SQL_RUNS_BAD_BEFORE, error, PAWL_ROW(PAWL_INT(G_MAXINT64), pawl_id(&PAWL_ID_TOP), PAWL_INT(FAILED_LOOK)));
  if (rows == NULL) return FALSE;
  while (ids->len < SHOWN_FAILED && pawl_rows_next(rows, &why)) {
    PawlId id = pawl_rows_id(rows, 0);
    if (!g_str_equal(pawl_rows_text(rows, 2), "cancelled")) g_array_append_val(ids, id);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean add_rows(PawlStore *store, GArray *ids, GPtrArray *list, GError **error) {
  for (guint i = 0; i < ids->len; i++) {
    PawlRunRow *row = pawl_store_run(store, &g_array_index(ids, PawlId, i), error);
    if (row == NULL) return FALSE;
    g_ptr_array_add(list, row);
  }
  return TRUE;
}

static gboolean read_coming(PawlStore *store, PawlStatus *status, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_STATUS_COMING, error, PAWL_ROW(PAWL_INT(SHOWN_COMING)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlComing *coming = g_new0(PawlComing, 1);
    coming->at_ms = pawl_rows_int(rows, 0);
    coming->task = g_strdup(pawl_rows_text(rows, 1));
    coming->trigger = g_strdup(pawl_rows_text(rows, 2));
    g_ptr_array_add(status->coming, coming);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean read_all(PawlStore *store, PawlStatus *status, GError **error) {
  g_autoptr(GArray) failed = g_array_new(FALSE, FALSE, sizeof(PawlId));
  g_autoptr(GArray) running = g_array_new(FALSE, FALSE, sizeof(PawlId));
  return read_counts(store, status, error) && failed_ids(store, failed, error) && add_rows(store, failed, status->failed, error) &&
         pawl_store_ids(store, PAWL_SQL_STATUS_RUNNING, running, error, PAWL_ROW(PAWL_INT(SHOWN_RUNNING))) &&
         add_rows(store, running, status->running_rows, error) && read_coming(store, status, error);
}

PawlStatus *pawl_store_status(PawlStore *store, GError **error) {
  PawlStatus *status = g_new0(PawlStatus, 1);
  status->failed = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  status->running_rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  status->coming = g_ptr_array_new_with_free_func(coming_free);
  gboolean ok = pawl_db_begin(store->db, PAWL_TX_READ, error);
  if (ok) {
    ok = read_all(store, status, error);
    pawl_db_rollback(store->db);
  }
  if (ok) return status;
  pawl_status_free(status);
  return NULL;
}
