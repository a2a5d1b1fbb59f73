/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a trigger's occurrences: its scheduled runs and its ledger, merged by nominal time. */
#include "base/error.h"
#include "store/runs_private.h"

#define LOOK_MAX 100000 /* newest runs of the task that are looked through for those of the trigger */
#define PAGE 500

void pawl_occurrence_free(PawlOccurrence *occurrence) {
  if (occurrence == NULL) return;
  g_free(occurrence->outcome);
  g_free(occurrence->reason);
  g_free(occurrence->run_state);
  g_free(occurrence);
}

static gboolean add_ranges(PawlStore *store, const PawlId *trigger, guint limit, GPtrArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_OCCURRENCE_RANGES, error, PAWL_ROW(pawl_id(trigger), PAWL_INT(limit)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlOccurrence *row = g_new0(PawlOccurrence, 1);
    row->from_ms = pawl_rows_int(rows, 0);
    row->to_ms = pawl_rows_int(rows, 1);
    row->count = pawl_rows_int(rows, 2);
    row->exact = pawl_rows_int(rows, 3) != 0;
    row->outcome = g_strdup(pawl_rows_text(rows, 4));
    row->reason = g_strdup(pawl_rows_text(rows, 5));
    g_ptr_array_add(list, row);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean add_run(PawlStore *store, const PawlId *run, GPtrArray *list, GError **error) {
  PawlRunRow *row = pawl_store_run(store, run, error);
  if (row == NULL) return FALSE;
  PawlOccurrence *occurrence = g_new0(PawlOccurrence, 1);
  occurrence->from_ms = occurrence->to_ms = row->nominal_at_ms;
  occurrence->count = 1;
  occurrence->exact = TRUE;
  occurrence->outcome = g_strdup("admitted");
  occurrence->reason = g_strdup(row->reason);
  occurrence->run = row->id;
  occurrence->run_state = g_strdup(pawl_run_state_name(row->state));
  g_ptr_array_add(list, occurrence);
  pawl_run_row_free(row);
  return TRUE;
}

static gboolean add_runs(PawlStore *store, const PawlId *trigger, guint limit, GPtrArray *list, GError **error) {
  g_autoptr(GArray) task = g_array_new(FALSE, FALSE, sizeof(PawlId));
  g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(PawlRunKey));
  PawlId before = PAWL_ID_TOP;
  guint found = 0, looked = 0;
  if (!pawl_store_ids(store, PAWL_SQL_TRIGGER_TASK, task, error, PAWL_ROW(pawl_id(trigger)))) return FALSE;
  if (task->len == 0) {
    g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no such trigger");
    return FALSE;
  }
  do {
    if (!pawl_store_run_page(store, &g_array_index(task, PawlId, 0), &before, PAGE, keys, error)) return FALSE;
    for (guint i = 0; i < keys->len && found < limit; i++) {
      const PawlRunKey *key = &g_array_index(keys, PawlRunKey, i);
      before = key->run;
      looked++;
      if (!key->scheduled || !pawl_id_equal(&key->trigger, trigger)) continue;
      if (!add_run(store, &key->run, list, error)) return FALSE;
      found++;
    }
  } while (keys->len == PAGE && found < limit && looked < LOOK_MAX);
  return TRUE;
}

static gint newest_first(gconstpointer a, gconstpointer b) {
  const PawlOccurrence *x = *(PawlOccurrence *const *)a, *y = *(PawlOccurrence *const *)b;
  return (y->to_ms > x->to_ms) - (y->to_ms < x->to_ms);
}

gboolean pawl_store_occurrences(PawlStore *store, const PawlId *trigger, guint limit, GPtrArray *rows, GError **error) {
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_occurrence_free);
  if (!pawl_db_begin(store->db, PAWL_TX_READ, error)) return FALSE;
  gboolean ok = add_ranges(store, trigger, limit, list, error) && add_runs(store, trigger, limit, list, error);
  pawl_db_rollback(store->db);
  if (!ok) return FALSE;
  g_ptr_array_sort(list, newest_first);
  if (list->len > limit) g_ptr_array_set_size(list, (gint)limit);
  g_ptr_array_extend_and_steal(rows, g_steal_pointer(&list));
  return TRUE;
}
