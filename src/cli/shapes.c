/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/shapes.h"

#include "base/clock.h"

#include <string.h>

void pawl_json_set_id(json_t *object, const char *key, const PawlId *id) {
  char text[PAWL_ID_TEXT];
  pawl_json_set_text(object, key, pawl_id_is_none(id) ? NULL : pawl_id_text(id, text));
}

void pawl_json_set_number(json_t *object, const char *key, gint64 value, gint64 none) {
  json_object_set_new(object, key, value == none ? json_null() : json_integer(value));
}

static void set_count(json_t *object, const char *key, gint64 value) { json_object_set_new(object, key, json_integer(value)); }

json_t *pawl_json_run(const PawlRunRow *run) {
  json_t *object = json_object();
  pawl_json_set_id(object, "run_id", &run->id);
  pawl_json_set_text(object, "project", run->project);
  pawl_json_set_text(object, "task", run->task);
  pawl_json_set_text(object, "trigger", run->trigger);
  pawl_json_set_text(object, "origin", run->origin);
  pawl_json_set_instant(object, "nominal_at", run->nominal_at_ms);
  pawl_json_set_text(object, "state", pawl_run_state_name(run->state));
  set_count(object, "attempts", run->attempts);
  pawl_json_set_instant(object, "queued_at", run->queued_at_ms);
  pawl_json_set_instant(object, "started_at", run->started_at_ms);
  pawl_json_set_instant(object, "finished_at", run->finished_at_ms);
  pawl_json_set_number(object, "exit_code", run->exit_code, -1);
  pawl_json_set_text(object, "reason", run->reason);
  pawl_json_set_number(object, "signal", run->signal, 0);
  pawl_json_set_id(object, "retry_of", &run->retry_of);
  pawl_json_set_text(object, "requested_by", run->requested_by);
  set_count(object, "task_revision", run->task_revision);
  return object;
}

json_t *pawl_json_attempt(const PawlAttemptRow *attempt) {
  json_t *object = json_object();
  set_count(object, "attempt", attempt->attempt);
  pawl_json_set_text(object, "state", attempt->state);
  pawl_json_set_text(object, "reason", attempt->reason);
  pawl_json_set_number(object, "exit_code", attempt->exit_code, -1);
  pawl_json_set_number(object, "signal", attempt->signal, 0);
  pawl_json_set_instant(object, "started_at", attempt->started_at_ms);
  pawl_json_set_instant(object, "finished_at", attempt->finished_at_ms);
  set_count(object, "output_bytes", attempt->output_bytes);
  set_count(object, "omitted_bytes", attempt->omitted_bytes);
  set_count(object, "cpu_ms", attempt->cpu_ms);
  set_count(object, "max_rss_kib", attempt->max_rss_kib);
  return object;
}

/* JSON that the store keeps as text, as a tree; null when there is none. */
static json_t *stored_json(const char *text) {
  json_t *json = text != NULL ? pawl_json_parse(text, strlen(text), NULL) : NULL;
  return json != NULL ? json : json_null();
}

json_t *pawl_json_event(const PawlEventRow *event) {
  json_t *object = json_object();
  set_count(object, "seq", event->seq);
  pawl_json_set_instant(object, "at", event->at_ms);
  pawl_json_set_text(object, "kind", event->kind);
  pawl_json_set_number(object, "attempt", event->attempt, 0);
  pawl_json_set_number(object, "machine_row", event->machine_row, 0);
  json_object_set_new(object, "data", stored_json(event->data));
  return object;
}

json_t *pawl_json_trigger(const PawlTriggerRow *trigger, gboolean with_spec) {
  json_t *object = json_object();
  pawl_json_set_id(object, "trigger_id", &trigger->id);
  pawl_json_set_text(object, "trigger", trigger->name);
  pawl_json_set_text(object, "state", trigger->state);
  pawl_json_set_text(object, "reason", trigger->reason);
  set_count(object, "revision", trigger->revision);
  pawl_json_set_instant(object, "next_at", trigger->next_fire_at_ms);
  pawl_json_set_instant(object, "due_at", trigger->due_at_ms);
  pawl_json_set_instant(object, "last_scheduled_at", trigger->last_scheduled_at_ms);
  pawl_json_set_instant(object, "paused_at", trigger->paused_at_ms);
  pawl_json_set_instant(object, "pause_until", trigger->pause_until_at_ms);
  pawl_json_set_instant(object, "quarantine_until", trigger->quarantine_until_at_ms);
  if (with_spec) json_object_set_new(object, "spec", stored_json(trigger->json));
  return object;
}

json_t *pawl_json_task(const PawlTaskRow *task, gboolean with_spec) {
  json_t *object = json_object(), *triggers = json_array();
  pawl_json_set_id(object, "task_id", &task->id);
  pawl_json_set_text(object, "project", task->project);
  pawl_json_set_text(object, "task", task->name);
  pawl_json_set_text(object, "state", task->state);
  pawl_json_set_text(object, "reason", task->reason);
  pawl_json_set_text(object, "paused_by", task->paused_by);
  pawl_json_set_instant(object, "paused_at", task->paused_at_ms);
  pawl_json_set_instant(object, "pause_until", task->pause_until_at_ms);
  set_count(object, "revision", task->revision);
  pawl_json_set_text(object, "owner", task->owner_mark);
  pawl_json_set_instant(object, "next_at", task->next_fire_at_ms);
  set_count(object, "waiting", task->waiting);
  set_count(object, "running", task->running);
  pawl_json_set_instant(object, "running_since", task->running_since_ms);
  pawl_json_set_text(object, "last_state", task->last_state);
  pawl_json_set_instant(object, "last_finished_at", task->last_finished_at_ms);
  pawl_json_set_number(object, "last_duration_ms", task->last_duration_ms, task->last_state == NULL ? task->last_duration_ms : G_MININT64);
  pawl_json_set_number(object, "usual_duration_ms", task->usual_duration_ms, 0);
  for (guint i = 0; task->triggers != NULL && i < task->triggers->len; i++)
    json_array_append_new(triggers, pawl_json_trigger(g_ptr_array_index(task->triggers, i), with_spec));
  json_object_set_new(object, "triggers", triggers);
  if (with_spec) pawl_json_set_text(object, "digest", task->digest);
  if (with_spec) json_object_set_new(object, "spec", stored_json(task->json));
  return object;
}

json_t *pawl_json_pool(const PawlPoolRow *pool) {
  json_t *object = json_object();
  pawl_json_set_text(object, "project", pool->project);
  pawl_json_set_text(object, "pool", pool->name);
  pawl_json_set_text(object, "state", pool->state);
  set_count(object, "slots", pool->slots);
  set_count(object, "slots_file", pool->slots_file);
  json_object_set_new(object, "overridden", json_boolean(pool->overridden));
  set_count(object, "used", pool->used);
  set_count(object, "waiting", pool->waiting);
  return object;
}

json_t *pawl_json_occurrence(const PawlOccurrence *occurrence) {
  json_t *object = json_object();
  pawl_json_set_instant(object, "from", occurrence->from_ms);
  pawl_json_set_instant(object, "to", occurrence->to_ms);
  set_count(object, "count", occurrence->count);
  json_object_set_new(object, "exact", json_boolean(occurrence->exact));
  pawl_json_set_text(object, "outcome", occurrence->outcome);
  pawl_json_set_text(object, "reason", occurrence->reason);
  pawl_json_set_id(object, "run_id", &occurrence->run);
  pawl_json_set_text(object, "run_state", occurrence->run_state);
  return object;
}

json_t *pawl_json_texts(const GPtrArray *texts) {
  json_t *array = json_array();
  for (guint i = 0; texts != NULL && i < texts->len; i++) {
    g_autofree char *valid = g_utf8_make_valid(g_ptr_array_index(texts, i), -1);
    json_array_append_new(array, json_string(valid));
  }
  return array;
}

char *pawl_full_name(const char *task, const char *trigger) {
  return trigger != NULL ? g_strconcat(task, "/", trigger, NULL) : g_strdup(task);
}

char *pawl_run_outcome(const PawlRunRow *run) {
  g_autofree char *how = NULL;
  if (run->signal > 0)
    how = g_strdup_printf("signal %d", run->signal);
  else if (run->exit_code > 0)
    how = g_strdup_printf("exit code %d", run->exit_code);
  if (run->reason == NULL || (how != NULL && strcmp(how, run->reason) == 0)) return how != NULL ? g_steal_pointer(&how) : g_strdup("");
  return how != NULL ? g_strconcat(how, ", ", run->reason, NULL) : g_strdup(run->reason);
}

char *pawl_timing_text(const PawlTriggerSpec *spec) {
  char instant[PAWL_INSTANT_TEXT];
  g_autofree char *every = pawl_duration_text(spec->timing.every_ms);
  switch (spec->timing.kind) {
  case PAWL_TIMING_EVERY: return g_strconcat("every ", every, NULL);
  case PAWL_TIMING_AT: return g_strconcat("at ", pawl_instant_text_short(spec->timing.at_ms, instant), NULL);
  case PAWL_TIMING_CRON:
  case PAWL_TIMING_REBOOT: break;
  }
  return g_strdup(spec->expression);
}

char *pawl_trigger_timing(const PawlTaskRow *task, const PawlTriggerRow *trigger) {
  g_autoptr(PawlTriggerSpec) spec = pawl_trigger_spec_from_stored(trigger->json, task->project, task->name, trigger->name, NULL);
  return spec != NULL ? pawl_timing_text(spec) : g_strdup("?");
}

/* Short of room for whole dates, how long ago says more, so that the outcome can be read. */
#define RUNS_WIDE 120

void pawl_print_runs(PawlOut *out, const GPtrArray *runs, gint64 now_ms, gboolean away) {
  gboolean narrow = pawl_out_width(out) > 0 && pawl_out_width(out) < RUNS_WIDE;
  static const PawlColumn wide_columns[] = {{"RUN", FALSE, FALSE}, {"TASK", FALSE, TRUE}, {"STATE", FALSE, FALSE}, {"ORIGIN", FALSE, FALSE},
    {"QUEUED", FALSE, FALSE}, {"TOOK", TRUE, FALSE}, {"TRY", TRUE, FALSE}, {"OUTCOME", FALSE, TRUE}};
  static const PawlColumn narrow_columns[] = {{"RUN", FALSE, FALSE}, {"TASK", FALSE, TRUE}, {"STATE", FALSE, FALSE},
    {"QUEUED", FALSE, FALSE}, {"TOOK", TRUE, FALSE}, {"TRY", TRUE, FALSE}, {"OUTCOME", FALSE, TRUE}};
  PawlTable *table =
    narrow ? pawl_table_new(narrow_columns, G_N_ELEMENTS(narrow_columns)) : pawl_table_new(wide_columns, G_N_ELEMENTS(wide_columns));
  for (guint i = 0; i < runs->len; i++) {
    const PawlRunRow *run = g_ptr_array_index(runs, i);
    char id[PAWL_ID_TEXT];
    const char *state = pawl_run_state_name(run->state);
    g_autofree char *name = pawl_full_name(run->task, run->trigger),
                    *queued = (narrow ? pawl_relative_text : pawl_when_text)(run->queued_at_ms, now_ms), *outcome = NULL;
    outcome = away && run->state == PAWL_RUN_RUNNING ? g_strdup("was running when pawl went away") : pawl_run_outcome(run);
    gint64 end_ms = run->finished_at_ms != 0 ? run->finished_at_ms : now_ms;
    g_autofree char *took = run->started_at_ms != 0 ? pawl_rough_text(MAX(end_ms - run->started_at_ms, 0)) : NULL;
    pawl_table_cell(table, PAWL_COLOUR_NONE, pawl_id_short(&run->id, id));
    pawl_table_cell(table, PAWL_COLOUR_NONE, name);
    pawl_table_cell(table, pawl_state_colour(state), state);
    if (!narrow) pawl_table_cell(table, PAWL_COLOUR_DIM, run->origin);
    pawl_table_cell(table, PAWL_COLOUR_NONE, queued);
    pawl_table_cell(table, PAWL_COLOUR_NONE, took);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", run->attempts);
    pawl_table_cell(table, PAWL_COLOUR_NONE, outcome);
  }
  pawl_table_print(table, out);
}
