/* SPDX-License-Identifier: Apache-2.0 */
/* One run: its row, attempts and events. */
#include "base/error.h"
#include "store/runs_private.h"

void pawl_run_row_free(PawlRunRow *row) {
  if (row == NULL) return;
  g_free(row->project);
  g_free(row->task);
  g_free(row->trigger);
  g_free(row->origin);
  g_free(row->requested_by);
  g_free(row->reason);
  g_free(row);
}

static gint int_or(PawlRows *rows, int column, gint none) {
  return pawl_rows_is_null(rows, column) ? none : (gint)pawl_rows_int(rows, column);
}

static PawlRunRow *read_run(PawlRows *rows) {
  PawlRunRow *row = g_new0(PawlRunRow, 1);
  row->id = pawl_rows_id(rows, 0);
  row->task_id = pawl_rows_id(rows, 1);
  row->trigger_id = pawl_rows_id(rows, 2);
  row->retry_of = pawl_rows_id(rows, 3);
  row->project = g_strdup(pawl_rows_text(rows, 4));
  row->task = g_strdup(pawl_rows_text(rows, 5));
  row->trigger = g_strdup(pawl_rows_text(rows, 6));
  row->origin = g_strdup(pawl_rows_text(rows, 7));
  row->requested_by = g_strdup(pawl_rows_text(rows, 8));
  row->reason = g_strdup(pawl_rows_text(rows, 9));
  row->nominal_at_ms = pawl_rows_int(rows, 10);
  row->queued_at_ms = pawl_rows_int(rows, 11);
  row->started_at_ms = pawl_rows_int(rows, 12);
  row->finished_at_ms = pawl_rows_int(rows, 13);
  row->attempts = (gint)pawl_rows_int(rows, 15);
  row->exit_code = int_or(rows, 16, -1);
  row->signal = (gint)pawl_rows_int(rows, 17);
  row->task_revision = (gint)pawl_rows_int(rows, 18);
  /* no hot row and no end: drift, which recovery puts aside; until then it is shown as what it was */
  if (pawl_rows_is_null(rows, 14) || !pawl_run_state_parse(pawl_rows_text(rows, 14), &row->state)) {
    row->state = PAWL_RUN_QUEUED;
    g_free(row->reason);
    row->reason = g_strdup("nothing says where it stands: recovery will put it aside");
  }
  return row;
}

PawlRunRow *pawl_store_run_or_none(PawlStore *store, const PawlId *run, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_RUN_GET, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL || !pawl_rows_next(rows, error)) return NULL;
  return read_run(rows);
}

PawlRunRow *pawl_store_run(PawlStore *store, const PawlId *run, GError **error) {
  GError *why = NULL;
  char text[PAWL_ID_TEXT];
  PawlRunRow *row = pawl_store_run_or_none(store, run, &why);
  if (row == NULL && why == NULL) why = g_error_new(PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no run %s", pawl_id_text(run, text));
  if (why != NULL) g_propagate_error(error, why);
  return row;
}

void pawl_attempt_row_free(PawlAttemptRow *row) {
  if (row == NULL) return;
  g_free(row->state);
  g_free(row->reason);
  g_free(row);
}

gboolean pawl_store_attempts(PawlStore *store, const PawlId *run, GPtrArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_ATTEMPTS_OF_RUN, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlAttemptRow *row = g_new0(PawlAttemptRow, 1);
    row->attempt = (gint)pawl_rows_int(rows, 0);
    row->state = g_strdup(pawl_rows_text(rows, 1));
    row->reason = g_strdup(pawl_rows_text(rows, 2));
    row->exit_code = int_or(rows, 3, -1);
    row->signal = (gint)pawl_rows_int(rows, 4);
    row->started_at_ms = pawl_rows_int(rows, 5);
    row->finished_at_ms = pawl_rows_int(rows, 6);
    row->output_bytes = pawl_rows_int(rows, 7);
    row->omitted_bytes = pawl_rows_int(rows, 8);
    row->cpu_ms = pawl_rows_int(rows, 9);
    row->max_rss_kib = pawl_rows_int(rows, 10);
    g_ptr_array_add(list, row);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

void pawl_event_row_free(PawlEventRow *row) {
  if (row == NULL) return;
  g_free(row->kind);
  g_free(row->data);
  g_free(row);
}

gboolean pawl_store_events(PawlStore *store, const PawlId *subject, gint64 after_seq, GPtrArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_EVENTS_OF, error, PAWL_ROW(pawl_id(subject), PAWL_INT(after_seq)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlEventRow *row = g_new0(PawlEventRow, 1);
    row->seq = pawl_rows_int(rows, 0);
    row->at_ms = pawl_rows_int(rows, 1);
    row->kind = g_strdup(pawl_rows_text(rows, 2));
    row->data = g_strdup(pawl_rows_text(rows, 3));
    row->attempt = (gint)pawl_rows_int(rows, 4);
    row->machine_row = (gint)pawl_rows_int(rows, 5);
    g_ptr_array_add(list, row);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}
