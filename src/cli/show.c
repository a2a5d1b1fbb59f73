/* SPDX-License-Identifier: Apache-2.0 */
/* pawl show: all about one task, trigger, run or pool. */
#include "cli/show.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

static const PawlExample examples[] = {
  {"pawl show backup", "a task: its state, triggers and definition"},
  {"pawl show backup/nightly", "a trigger"},
  {"pawl show 9f3c2a1b", "a run with its attempts and events"},
  {"pawl show pool io", "a pool"},
};

static void print_pause(PawlOut *out, gint64 paused_ms, gint64 until_ms, const char *by, gint64 now_ms) {
  if (paused_ms == 0) return;
  g_autofree char *since = pawl_when_text(paused_ms, now_ms), *until = pawl_when_text(until_ms, now_ms);
  pawl_card_linef(out, "paused", PAWL_COLOUR_WARN, "since %s%s%s, %s%s", since, by != NULL ? " by " : "", by != NULL ? by : "",
    until_ms != 0 ? "until " : "until resumed", until_ms != 0 ? until : "");
}

static void print_triggers(PawlOut *out, const PawlTaskRow *task, gint64 now_ms) {
  static const PawlColumn columns[] = {{"TRIGGER", FALSE, FALSE}, {"STATE", FALSE, FALSE}, {"WHEN", FALSE, TRUE}, {"ZONE", FALSE, FALSE},
    {"NEXT", FALSE, FALSE}, {"REASON", FALSE, TRUE}};
  if (task->triggers->len == 0) return;
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *trigger = g_ptr_array_index(task->triggers, i);
    g_autoptr(PawlTriggerSpec) spec = pawl_trigger_spec_from_stored(trigger->json, task->project, task->name, trigger->name, NULL);
    g_autofree char *timing = pawl_trigger_timing(task, trigger), *next = pawl_when_text(trigger->next_fire_at_ms, now_ms);
    pawl_table_cell(table, PAWL_COLOUR_BOLD, trigger->name);
    pawl_table_cell(table, pawl_state_colour(trigger->state), trigger->state);
    pawl_table_cell(table, PAWL_COLOUR_NONE, timing);
    pawl_table_cell(
      table, PAWL_COLOUR_NONE, spec != NULL && spec->timing.cron != NULL ? pawl_zone_name(pawl_cron_zone(spec->timing.cron)) : NULL);
    pawl_table_cell(table, PAWL_COLOUR_NONE, next);
    pawl_table_cell(table, PAWL_COLOUR_NONE, trigger->reason);
  }
  pawl_out_text(out, "\n");
  pawl_table_print(table, out);
}

static void print_task(PawlOut *out, PawlStore *store, const PawlTaskRow *task, gint64 now_ms) {
  g_autofree char *finished = pawl_when_text(task->last_finished_at_ms, now_ms), *took = pawl_rough_text(task->last_duration_ms),
                  *usual = pawl_rough_text(task->usual_duration_ms);
  pawl_card_line(out, "task", PAWL_COLOUR_BOLD, task->name);
  pawl_card_line(out, "project", PAWL_COLOUR_NONE, task->project);
  pawl_card_line(out, "state", pawl_state_colour(task->state), task->state);
  print_pause(out, task->paused_at_ms, task->pause_until_at_ms, task->paused_by, now_ms);
  pawl_card_line(out, "reason", PAWL_COLOUR_NONE, task->reason);
  pawl_card_linef(out, "revision", PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT ", %.12s", task->revision, task->digest);
  pawl_card_line(out, "owner", PAWL_COLOUR_NONE, task->owner_mark);
  pawl_card_linef(out, "runs", PAWL_COLOUR_NONE, "%d running, %d waiting", task->running, task->waiting);
  if (task->last_state != NULL)
    pawl_card_linef(out, "last run", pawl_state_colour(task->last_state), "%s %s, took %s", task->last_state, finished, took);
  if (task->usual_duration_ms > 0) pawl_card_linef(out, "usually", PAWL_COLOUR_NONE, "%s", usual);
  print_triggers(out, task, now_ms);
  pawl_print_task_definition(out, store, task);
}

static void print_trigger(PawlOut *out, const PawlTaskRow *task, const PawlTriggerRow *trigger, gint64 now_ms) {
  g_autofree char *next = pawl_when_text(trigger->next_fire_at_ms, now_ms), *due = pawl_when_text(trigger->due_at_ms, now_ms),
                  *last = pawl_when_text(trigger->last_scheduled_at_ms, now_ms),
                  *back = pawl_when_text(trigger->quarantine_until_at_ms, now_ms);
  pawl_card_linef(out, "trigger", PAWL_COLOUR_BOLD, "%s/%s", task->name, trigger->name);
  pawl_card_line(out, "project", PAWL_COLOUR_NONE, task->project);
  pawl_card_line(out, "state", pawl_state_colour(trigger->state), trigger->state);
  print_pause(out, trigger->paused_at_ms, trigger->pause_until_at_ms, NULL, now_ms);
  if (trigger->quarantine_until_at_ms != 0) pawl_card_linef(out, "put aside", PAWL_COLOUR_BAD, "until %s", back);
  pawl_card_line(out, "reason", PAWL_COLOUR_NONE, trigger->reason);
  pawl_card_linef(out, "revision", PAWL_COLOUR_NONE, "%" G_GINT64_FORMAT, trigger->revision);
  pawl_card_line(out, "next", PAWL_COLOUR_NONE, next);
  if (trigger->due_at_ms != trigger->next_fire_at_ms) pawl_card_line(out, "due", PAWL_COLOUR_NONE, due);
  pawl_card_line(out, "last settled", PAWL_COLOUR_NONE, last);
  pawl_print_trigger_definition(out, trigger);
}

static int show_definition(PawlCall *call, PawlStore *store, const PawlSubject *subject, GError **error) {
  gint64 now_ms;
  if (!pawl_store_now(store, &now_ms, error)) return PAWL_EXIT_FAILED;
  if (!pawl_out_json_wanted(call->out)) {
    if (subject->trigger != NULL)
      print_trigger(call->out, subject->task, subject->trigger, now_ms);
    else
      print_task(call->out, store, subject->task, now_ms);
    return PAWL_EXIT_OK;
  }
  json_t *object = subject->trigger != NULL ? pawl_json_trigger(subject->trigger, TRUE) : pawl_json_task(subject->task, TRUE);
  if (subject->trigger != NULL) pawl_json_set_text(object, "task", subject->task->name);
  if (subject->trigger != NULL) pawl_json_set_text(object, "project", subject->task->project);
  pawl_out_json(call->out, object);
  return PAWL_EXIT_OK;
}

static void print_attempts(PawlOut *out, const GPtrArray *attempts, gint64 now_ms) {
  static const PawlColumn columns[] = {{"TRY", TRUE, FALSE}, {"STATE", FALSE, FALSE}, {"STARTED", FALSE, FALSE}, {"TOOK", TRUE, FALSE},
    {"EXIT", TRUE, FALSE}, {"OUTPUT", TRUE, FALSE}, {"REASON", FALSE, TRUE}};
  if (attempts->len == 0) return;
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < attempts->len; i++) {
    const PawlAttemptRow *attempt = g_ptr_array_index(attempts, i);
    gint64 end_ms = attempt->finished_at_ms != 0 ? attempt->finished_at_ms : now_ms;
    g_autofree char *started = pawl_when_text(attempt->started_at_ms, now_ms), *size = pawl_size_text(attempt->output_bytes);
    g_autofree char *took = attempt->started_at_ms != 0 ? pawl_rough_text(MAX(end_ms - attempt->started_at_ms, 0)) : NULL;
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", attempt->attempt);
    pawl_table_cell(table, pawl_state_colour(attempt->state), attempt->state);
    pawl_table_cell(table, PAWL_COLOUR_NONE, started);
    pawl_table_cell(table, PAWL_COLOUR_NONE, took);
    if (attempt->signal > 0)
      pawl_table_cellf(table, PAWL_COLOUR_BAD, "signal %d", attempt->signal);
    else if (attempt->exit_code >= 0)
      pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", attempt->exit_code);
    else
      pawl_table_cell(table, PAWL_COLOUR_NONE, NULL);
    pawl_table_cell(table, PAWL_COLOUR_NONE, size);
    pawl_table_cell(table, PAWL_COLOUR_NONE, attempt->reason);
  }
  pawl_out_text(out, "\n");
  pawl_table_print(table, out);
}

static void print_events(PawlOut *out, const GPtrArray *events) {
  static const PawlColumn columns[] = {{"AT", FALSE, FALSE}, {"EVENT", FALSE, FALSE}, {"TRY", TRUE, FALSE}, {"", FALSE, TRUE}};
  if (events->len == 0) return;
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < events->len; i++) {
    const PawlEventRow *event = g_ptr_array_index(events, i);
    g_autofree char *at = pawl_local_text(event->at_ms);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s.%03d", at, (int)(event->at_ms % 1000));
    pawl_table_cell(table, PAWL_COLOUR_NONE, event->kind);
    if (event->attempt > 0)
      pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", event->attempt);
    else
      pawl_table_cell(table, PAWL_COLOUR_NONE, NULL);
    pawl_table_cell(table, PAWL_COLOUR_DIM, event->data);
  }
  pawl_out_text(out, "\n");
  pawl_table_print(table, out);
}

static void print_run(PawlOut *out, const PawlRunRow *run, gint64 now_ms) {
  char text[PAWL_ID_TEXT];
  const char *state = pawl_run_state_name(run->state);
  g_autofree char *name = pawl_full_name(run->task, run->trigger), *outcome = pawl_run_outcome(run),
                  *nominal = pawl_when_text(run->nominal_at_ms, now_ms), *queued = pawl_when_text(run->queued_at_ms, now_ms),
                  *started = pawl_when_text(run->started_at_ms, now_ms), *finished = pawl_when_text(run->finished_at_ms, now_ms);
  pawl_card_line(out, "run", PAWL_COLOUR_BOLD, pawl_id_text(&run->id, text));
  pawl_card_linef(out, "task", PAWL_COLOUR_NONE, "%s, revision %d", name, run->task_revision);
  pawl_card_line(out, "project", PAWL_COLOUR_NONE, run->project);
  pawl_card_linef(out, "state", pawl_state_colour(state), "%s%s%s", state, *outcome != '\0' ? ": " : "", outcome);
  pawl_card_linef(out, "origin", PAWL_COLOUR_NONE, "%s%s%s", run->origin, run->requested_by != NULL ? " by " : "",
    run->requested_by != NULL ? run->requested_by : "");
  if (!pawl_id_is_none(&run->retry_of)) pawl_card_line(out, "retry of", PAWL_COLOUR_NONE, pawl_id_text(&run->retry_of, text));
  if (run->nominal_at_ms != 0) pawl_card_line(out, "nominal", PAWL_COLOUR_NONE, nominal);
  pawl_card_line(out, "queued", PAWL_COLOUR_NONE, queued);
  pawl_card_line(out, "started", PAWL_COLOUR_NONE, started);
  pawl_card_line(out, "finished", PAWL_COLOUR_NONE, finished);
}

static int show_run(PawlCall *call, PawlStore *store, const PawlId *id, GError **error) {
  g_autoptr(GPtrArray) attempts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_attempt_row_free);
  g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_event_row_free);
  gint64 now_ms;
  if (!pawl_store_now(store, &now_ms, error) || !pawl_store_attempts(store, id, attempts, error) ||
      !pawl_store_events(store, id, 0, events, error))
    return PAWL_EXIT_FAILED;
  PawlRunRow *run = pawl_store_run(store, id, error);
  if (run == NULL) return PAWL_EXIT_FAILED;
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = pawl_json_run(run), *attempts_json = json_array(), *events_json = json_array();
    for (guint i = 0; i < attempts->len; i++) json_array_append_new(attempts_json, pawl_json_attempt(g_ptr_array_index(attempts, i)));
    for (guint i = 0; i < events->len; i++) json_array_append_new(events_json, pawl_json_event(g_ptr_array_index(events, i)));
    json_object_set_new(object, "attempt_rows", attempts_json);
    json_object_set_new(object, "events", events_json);
    pawl_out_json(call->out, object);
  } else {
    print_run(call->out, run, now_ms);
    print_attempts(call->out, attempts, now_ms);
    print_events(call->out, events);
  }
  pawl_run_row_free(run);
  return PAWL_EXIT_OK;
}

static int run(PawlCall *call, GError **error) {
  g_auto(PawlSubject) subject = {0};
  if (call->n_args == 2) {
    if (strcmp(call->args[0], "pool") == 0) return pawl_show_pool(call, call->args[1], error);
    return pawl_usage_error(call, error, "'%.80s' is one argument too many", call->args[1]);
  }
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_subject_find(call, store, call->args[0], &subject, error)) return PAWL_EXIT_FAILED;
  return subject.task != NULL ? show_definition(call, store, &subject, error) : show_run(call, store, &subject.run, error);
}

const PawlVerb pawl_verb_show = {
  .name = "show",
  .group = "Look",
  .summary = "Show all about a task, a trigger, a run or a pool",
  .synopsis = "TASK|TASK/TRIGGER|RUN|pool NAME",
  .description =
    "A definition is shown as YAML in its normal form, every default written out; a task's is a file that `pawl validate` takes.",
  .json =
    "a task as in `pawl list`, a trigger as in it, both with digest and spec; a run as in `pawl runs` with attempt_rows and events; a pool as in "
    "`pawl pools`",
  PAWL_EXAMPLES(examples),
  .min_args = 1,
  .max_args = 2,
  .run = run,
};
