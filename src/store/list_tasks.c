/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "store/runs_private.h"

#include <string.h>

#define USUAL_OF 20 /* successes of which the median is the usual duration */

static void trigger_row_free(gpointer data) {
  PawlTriggerRow *row = data;
  g_free(row->name);
  g_free(row->state);
  g_free(row->reason);
  g_free(row->json);
  g_free(row);
}

void pawl_task_row_free(PawlTaskRow *row) {
  if (row == NULL) return;
  g_free(row->project);
  g_free(row->name);
  g_free(row->state);
  g_free(row->reason);
  g_free(row->paused_by);
  g_free(row->json);
  g_free(row->digest);
  g_free(row->owner_mark);
  g_free(row->last_state);
  g_ptr_array_unref(row->triggers);
  g_free(row);
}

static gboolean read_tasks(PawlStore *store, const char *project, const char *task, GPtrArray *list, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASKS_LIST, error, PAWL_ROW(pawl_text(project), pawl_text(task)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlTaskRow *row = g_new0(PawlTaskRow, 1);
    row->id = pawl_rows_id(rows, 0);
    row->project = g_strdup(pawl_rows_text(rows, 1));
    row->name = g_strdup(pawl_rows_text(rows, 2));
    row->paused_at_ms = pawl_rows_int(rows, 4);
    row->state = g_strdup(!g_str_equal(pawl_rows_text(rows, 3), "active") ? "archived" : row->paused_at_ms != 0 ? "paused" : "active");
    row->pause_until_at_ms = pawl_rows_int(rows, 5);
    row->reason = g_strdup(pawl_rows_text(rows, 6));
    row->paused_by = g_strdup(pawl_rows_text(rows, 7));
    row->json = g_strdup(pawl_rows_text(rows, 8));
    row->digest = g_strdup(pawl_rows_text(rows, 9));
    row->owner_mark = g_strdup(pawl_rows_text(rows, 10));
    row->revision = pawl_rows_int(rows, 11);
    row->triggers = g_ptr_array_new_with_free_func(trigger_row_free);
    g_ptr_array_add(list, row);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* What the spec itself says of a trigger that is not armed. */
static const char *unarmed_state(const char *json) {
  g_autoptr(json_t) spec = json_loads(json, 0, NULL);
  const char *cron = json_string_value(json_object_get(spec, "cron"));
  if (json_is_false(json_object_get(spec, "enabled"))) return "disabled";
  return cron != NULL && strstr(cron, "@reboot") != NULL ? "active" : "exhausted";
}

static void read_trigger(PawlRows *rows, gboolean task_paused, PawlTriggerRow *row) {
  gboolean armed = pawl_rows_int(rows, 5) != 0, paused = !pawl_rows_is_null(rows, 9), quarantined = !pawl_rows_is_null(rows, 12);
  row->id = pawl_rows_id(rows, 0);
  row->name = g_strdup(pawl_rows_text(rows, 1));
  row->revision = pawl_rows_int(rows, 3);
  row->json = g_strdup(pawl_rows_text(rows, 4));
  row->next_fire_at_ms = armed ? pawl_rows_int(rows, 6) : 0;
  row->due_at_ms = armed ? pawl_rows_int(rows, 7) : 0;
  row->last_scheduled_at_ms = pawl_rows_int(rows, 8);
  row->paused_at_ms = pawl_rows_int(rows, 9);
  row->pause_until_at_ms = pawl_rows_int(rows, 10);
  row->quarantine_until_at_ms = pawl_rows_int(rows, 12);
  if (!g_str_equal(pawl_rows_text(rows, 2), "active"))
    row->state = g_strdup("archived");
  else if (quarantined)
    row->state = g_strdup("quarantined");
  else if (paused)
    row->state = g_strdup("paused");
  else if (armed)
    row->state = g_strdup("active");
  else if (task_paused && !pawl_rows_is_null(rows, 6))
    row->state = g_strdup(g_str_equal(unarmed_state(row->json), "disabled") ? "disabled" : "paused");
  else
    row->state = g_strdup(unarmed_state(row->json));
  row->reason = g_strdup(quarantined ? pawl_rows_text(rows, 13) : pawl_rows_text(rows, 11));
}

static gboolean add_triggers(PawlStore *store, PawlTaskRow *task, GError **error) {
  GError *why = NULL;
  gboolean archived_too = g_str_equal(task->state, "archived");
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASK_TRIGGERS, error, PAWL_ROW(pawl_id(&task->id), PAWL_INT(archived_too)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlTriggerRow *row = g_new0(PawlTriggerRow, 1);
    read_trigger(rows, task->paused_at_ms != 0, row);
    g_ptr_array_add(task->triggers, row);
    if (row->next_fire_at_ms != 0 && (task->next_fire_at_ms == 0 || row->next_fire_at_ms < task->next_fire_at_ms))
      task->next_fire_at_ms = row->next_fire_at_ms;
    if (row->due_at_ms != 0 && (task->due_at_ms == 0 || row->due_at_ms < task->due_at_ms)) task->due_at_ms = row->due_at_ms;
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean add_use(PawlStore *store, PawlTaskRow *task, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASK_USE, error, PAWL_ROW(pawl_id(&task->id)));
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  task->waiting = (gint)pawl_rows_int(rows, 0);
  task->running = (gint)pawl_rows_int(rows, 1);
  task->running_since_ms = pawl_rows_int(rows, 2);
  return TRUE;
}

static gint by_value(gconstpointer a, gconstpointer b) {
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  return (x > y) - (x < y);
}

static gboolean add_ends(PawlStore *store, PawlTaskRow *task, GError **error) {
  GError *why = NULL;
  gint64 good[USUAL_OF];
  guint n = 0;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_TASK_ENDS, error, PAWL_ROW(pawl_id(&task->id)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    const char *state = pawl_rows_text(rows, 0);
    gint64 took_ms = pawl_rows_is_null(rows, 1) ? -1 : pawl_rows_int(rows, 2) - pawl_rows_int(rows, 1);
    if (task->last_state == NULL) {
      task->last_state = g_strdup(g_str_equal(state, "lost") ? "failed" : state);
      task->last_finished_at_ms = pawl_rows_int(rows, 2);
      task->last_duration_ms = MAX(took_ms, 0);
    }
    if (g_str_equal(state, "succeeded") && took_ms >= 0 && n < USUAL_OF) good[n++] = took_ms;
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  if (n > 0) {
    qsort(good, n, sizeof good[0], by_value);
    task->usual_duration_ms = good[n / 2];
  }
  return TRUE;
}

gboolean pawl_store_tasks(PawlStore *store, const char *project, const char *task, GPtrArray *rows, GError **error) {
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  if (!pawl_db_begin(store->db, PAWL_TX_READ, error)) return FALSE;
  gboolean ok = read_tasks(store, project, task, list, error);
  for (guint i = 0; ok && i < list->len; i++) {
    PawlTaskRow *row = g_ptr_array_index(list, i);
    ok = add_triggers(store, row, error) && add_use(store, row, error) && add_ends(store, row, error);
  }
  if (ok && task != NULL && list->len == 0) {
    g_auto(PawlRef) ref = {0};
    ok = pawl_store_lookup(store, project, task, TRUE, &ref, error); /* names what is missing, and the nearest */
    if (ok) {
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%s' is a trigger; name its task: '%s'", task, ref.task_name);
      ok = FALSE;
    }
  }
  pawl_db_rollback(store->db);
  if (ok) g_ptr_array_extend_and_steal(rows, g_steal_pointer(&list));
  return ok;
}
