/* SPDX-License-Identifier: Apache-2.0 */
/* pawl list: the tasks. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

#define LONG_FACTOR 3 /* a run that takes so many times its usual length is marked */

static const PawlExample examples[] = {
  {"pawl list", "tasks with their state, next and last run"},
  {"pawl jobs --project billing --json", "another project's, for a program"},
};

static gboolean runs_long(const PawlTaskRow *task, gint64 now_ms) {
  return task->running > 0 && task->running_since_ms != 0 && task->usual_duration_ms > 0 &&
         now_ms - task->running_since_ms > LONG_FACTOR * task->usual_duration_ms;
}

static char *activity_of(const PawlTaskRow *task, gint64 now_ms, gboolean away) {
  g_autofree char *since = pawl_rough_text(MAX(now_ms - task->running_since_ms, 0)), *usual = pawl_rough_text(task->usual_duration_ms);
  GString *text = g_string_new(NULL);
  gboolean runs = task->running > 0 && !away;
  if (task->running > 0) g_string_append_printf(text, "%d %s", task->running, away ? "left behind" : "running");
  if (runs && task->running_since_ms != 0) g_string_append_printf(text, " for %s", since);
  if (runs && runs_long(task, now_ms)) g_string_append_printf(text, ", usually %s", usual);
  if (task->waiting > 0) g_string_append_printf(text, "%s%d waiting", text->len > 0 ? ", " : "", task->waiting);
  return g_string_free(text, FALSE);
}

static void add_last(PawlTable *table, const PawlTaskRow *task, gint64 now_ms) {
  if (task->last_state == NULL) {
    pawl_table_cell(table, PAWL_COLOUR_NONE, "-");
    return;
  }
  g_autofree char *ago = pawl_relative_text(task->last_finished_at_ms, now_ms);
  pawl_table_cellf(table, pawl_state_colour(task->last_state), "%s %s", task->last_state, ago);
}

static char *timings_of(const PawlTaskRow *task) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *trigger = g_ptr_array_index(task->triggers, i);
    g_autofree char *timing = pawl_trigger_timing(task, trigger);
    g_string_append_printf(text, "%s%s: %s", text->len > 0 ? "; " : "", trigger->name, timing);
    if (strcmp(trigger->state, "active") != 0) g_string_append_printf(text, " (%s)", trigger->state);
  }
  return g_string_free(text, FALSE);
}

static void print_tasks(PawlOut *out, const GPtrArray *tasks, gint64 now_ms, gboolean away) {
  static const PawlColumn columns[] = {{"TASK", FALSE, TRUE}, {"STATE", FALSE, FALSE}, {"NEXT", FALSE, FALSE}, {"LAST", FALSE, FALSE},
    {"NOW", FALSE, TRUE}, {"TRIGGERS", FALSE, TRUE}};
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < tasks->len; i++) {
    const PawlTaskRow *task = g_ptr_array_index(tasks, i);
    gboolean due = task->due_at_ms != 0 && task->due_at_ms <= now_ms;
    g_autofree char *next = due ? g_strdup("due") : pawl_when_text(task->due_at_ms, now_ms), *activity = activity_of(task, now_ms, away),
                    *timings = timings_of(task);
    gboolean is_default = strcmp(task->project, "default") == 0;
    pawl_table_cellf(table, PAWL_COLOUR_BOLD, "%s%s%s", is_default ? "" : task->project, is_default ? "" : ": ", task->name);
    pawl_table_cell(table, pawl_state_colour(task->state), task->state);
    pawl_table_cell(table, PAWL_COLOUR_NONE, next);
    add_last(table, task, now_ms);
    pawl_table_cell(table, away || runs_long(task, now_ms) ? PAWL_COLOUR_WARN : PAWL_COLOUR_BUSY, activity);
    pawl_table_cell(table, PAWL_COLOUR_DIM, timings);
  }
  pawl_table_print(table, out);
}

static int run(PawlCall *call, GError **error) {
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  gint64 now_ms;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_now(store, &now_ms, error)) return PAWL_EXIT_FAILED;
  if (!pawl_store_tasks(store, pawl_call_project_if_set(call), NULL, tasks, error)) return PAWL_EXIT_FAILED;
  if (pawl_out_json_wanted(call->out)) {
    json_t *array = json_array();
    for (guint i = 0; i < tasks->len; i++) {
      json_t *object = pawl_json_task(g_ptr_array_index(tasks, i), FALSE);
      json_object_set_new(object, "runs_long", json_boolean(runs_long(g_ptr_array_index(tasks, i), now_ms)));
      json_array_append_new(array, object);
    }
    pawl_out_json(call->out, array);
  } else if (tasks->len == 0) {
    pawl_out_note(call->out, "there are no tasks; `pawl apply -f FILE` adds some");
  } else {
    print_tasks(call->out, tasks, now_ms, pawl_db_holder(pawl_store_db(store)) == 0);
  }
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_list = {
  .name = "list",
  .alias = "jobs",
  .group = "Look",
  .summary = "List tasks with their triggers",
  .synopsis = "",
  .description = "All projects', or with --project one's. A task that runs three times as long as usual is marked.",
  .json =
    "an array of {task_id, project, task, state, reason, paused_by, paused_at, pause_until, revision, owner, next_at, waiting, running, "
    "running_since, last_state, last_finished_at, last_duration_ms, usual_duration_ms, triggers: [{trigger_id, trigger, state, reason, "
    "revision, next_at, due_at, last_scheduled_at, paused_at, pause_until, quarantine_until}], runs_long}",
  PAWL_EXAMPLES(examples),
  .run = run,
};
