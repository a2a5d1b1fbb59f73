/* SPDX-License-Identifier: Apache-2.0 */
/* pawl explain: why something ran, did not run, or waits. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/show.h"
#include "cli/verbs.h"

#include <string.h>

typedef struct {
  gint count;
} ExplainOptions;

static const PawlOption options[] = {
  {"count", 'n', PAWL_OPTION_COUNT, offsetof(ExplainOptions, count), "N", "Of a trigger: its newest N occurrences or ranges (default 10)",
    10, 1, 10000},
};

static const PawlExample examples[] = {
  {"pawl explain backup/nightly", "when it fires next, and what became of its occurrences"},
  {"pawl explain 9f3c2a1b", "what a run waits for, or what happened to it"},
  {"pawl explain backup", "a task with its unfinished runs"},
};

static void say(GPtrArray *sentences, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(GPtrArray *sentences, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(sentences, g_strdup_vprintf(format, args));
  va_end(args);
}

static void say_pause(
  GPtrArray *sentences, const char *what, gint64 paused_ms, gint64 until_ms, const char *by, const char *reason, gint64 now_ms) {
  g_autofree char *since = pawl_when_text(paused_ms, now_ms), *until = pawl_when_text(until_ms, now_ms);
  say(sentences, "%s is paused since %s%s%s, %s%s%s%s.", what, since, by != NULL ? " by " : "", by != NULL ? by : "",
    until_ms != 0 ? "until " : "until it is resumed", until_ms != 0 ? until : "", reason != NULL ? ": " : "", reason != NULL ? reason : "");
}

static void say_state(GPtrArray *sentences, const PawlTriggerRow *trigger, gint64 now_ms) {
  g_autofree char *next = pawl_when_text(trigger->next_fire_at_ms, now_ms), *due = pawl_when_text(trigger->due_at_ms, now_ms),
                  *back = pawl_when_text(trigger->quarantine_until_at_ms, now_ms);
  const char *reason = trigger->reason != NULL ? trigger->reason : "no reason is recorded";
  if (strcmp(trigger->state, "paused") == 0 && trigger->paused_at_ms == 0)
    say(sentences, "It does not fire while its task is paused.");
  else if (strcmp(trigger->state, "paused") == 0)
    say_pause(sentences, "It", trigger->paused_at_ms, trigger->pause_until_at_ms, NULL, trigger->reason, now_ms);
  else if (strcmp(trigger->state, "quarantined") == 0)
    say(sentences, "It is quarantined until %s, so that it does not stop the others: %s.", back, reason);
  else if (strcmp(trigger->state, "exhausted") == 0)
    say(sentences, "It is exhausted: no occurrence is left.");
  else if (strcmp(trigger->state, "disabled") == 0)
    say(sentences, "It is disabled by its definition (enabled: false).");
  else if (strcmp(trigger->state, "archived") == 0)
    say(sentences, "It is deleted (archived); its history stays.");
  else if (trigger->next_fire_at_ms == 0)
    say(sentences, "It is not fired by time.");
  else if (trigger->due_at_ms != trigger->next_fire_at_ms)
    say(sentences, "Its next occurrence is %s; with its jitter the run is due %s.", next, due);
  else
    say(sentences, "Its next occurrence is %s.", next);
}

static void say_rules(GPtrArray *sentences, const PawlTriggerSpec *spec) {
  static const char *const misfires[] = {"the newest one missed is made up for, the others are coalesced", "what is missed is skipped",
    "each one missed is made up for, oldest first"};
  g_autofree char *grace = spec->misfire.grace_ms >= 0           ? pawl_duration_text(spec->misfire.grace_ms)
                           : spec->timing.kind == PAWL_TIMING_AT ? g_strdup("5m")
                                                                 : g_strdup("the gap to the next occurrence, at most 5m");
  if (spec->timing.kind == PAWL_TIMING_REBOOT) {
    say(sentences, "Once per boot, when pawl starts on a single node.");
  } else if (spec->timing.cron != NULL) {
    g_autofree char *sentence = pawl_cron_explain(spec->timing.cron);
    say(sentences, "%s", sentence);
  } else {
    g_autofree char *timing = pawl_timing_text(spec);
    say(sentences, "It fires %s.", timing);
  }
  if (spec->timing.kind == PAWL_TIMING_AT && spec->misfire.misfire == PAWL_MISFIRE_SKIP)
    say(sentences, "It runs at most %s late; when that was not possible it is skipped.", grace);
  else if (spec->timing.kind == PAWL_TIMING_AT)
    say(sentences, "It is on time when it runs at most %s late; when that was not possible it is made up for.", grace);
  else if (spec->timing.kind != PAWL_TIMING_REBOOT)
    say(sentences, "An occurrence is missed when its run could not be made within %s; %s.", grace, misfires[spec->misfire.misfire]);
  switch (spec->overlap) {
  case PAWL_OVERLAP_SKIP: say(sentences, "While a run that a trigger made is unfinished, the next one is left out (overlap: skip)."); break;
  case PAWL_OVERLAP_ALLOW: say(sentences, "Runs may overlap (overlap: allow)."); break;
  case PAWL_OVERLAP_QUEUE: say(sentences, "At most %d runs wait for the one before (overlap: queue).", spec->overlap_queue); break;
  case PAWL_OVERLAP_REPLACE: say(sentences, "A new run cancels the unfinished ones (overlap: replace)."); break;
  }
}

static void print_sentences(PawlOut *out, const GPtrArray *sentences) {
  for (guint i = 0; i < sentences->len; i++) {
    g_autofree char *text = pawl_display_text(g_ptr_array_index(sentences, i));
    pawl_out_text(out, "%s\n", text);
  }
}

static void print_occurrences(PawlOut *out, const GPtrArray *rows) {
  static const PawlColumn columns[] = {{"OCCURRENCE", FALSE, FALSE}, {"TO", FALSE, FALSE}, {"COUNT", TRUE, FALSE},
    {"WHAT BECAME OF IT", FALSE, FALSE}, {"RUN", FALSE, FALSE}, {"REASON", FALSE, TRUE}};
  if (rows->len == 0) return;
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < rows->len; i++) {
    const PawlOccurrence *row = g_ptr_array_index(rows, i);
    gboolean range = row->to_ms != row->from_ms, has_run = !pawl_id_is_none(&row->run);
    char id[PAWL_ID_TEXT];
    g_autofree char *from = pawl_local_text(row->from_ms), *to = pawl_local_text(row->to_ms);
    const char *what = has_run && row->run_state != NULL ? row->run_state : row->outcome;
    pawl_table_cell(table, PAWL_COLOUR_NONE, from);
    pawl_table_cell(table, PAWL_COLOUR_NONE, range ? to : NULL);
    pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s%" G_GINT64_FORMAT, row->exact ? "" : "at least ", row->count);
    pawl_table_cell(table, has_run ? pawl_state_colour(what) : PAWL_COLOUR_WARN, what);
    pawl_table_cell(table, PAWL_COLOUR_NONE, has_run ? pawl_id_short(&row->run, id) : NULL);
    pawl_table_cell(table, PAWL_COLOUR_NONE, row->reason);
  }
  pawl_out_text(out, "\n");
  pawl_table_print(table, out);
}

static int explain_trigger(
  PawlCall *call, PawlStore *store, const PawlTaskRow *task, const PawlTriggerRow *trigger, gint64 now_ms, GError **error) {
  const ExplainOptions *given = call->options;
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_occurrence_free);
  g_autoptr(GError) why = NULL;
  g_autoptr(PawlTriggerSpec) spec = pawl_trigger_spec_from_stored(trigger->json, task->project, task->name, trigger->name, &why);
  if (!pawl_store_occurrences(store, &trigger->id, (guint)given->count, rows, error)) return PAWL_EXIT_FAILED;
  say_state(sentences, trigger, now_ms);
  if (task->paused_at_ms != 0)
    say_pause(sentences, "Its task", task->paused_at_ms, task->pause_until_at_ms, task->paused_by, task->reason, now_ms);
  if (spec != NULL)
    say_rules(sentences, spec);
  else
    say(sentences, "Its definition cannot be read: %s.", why->message);
  if (!pawl_out_json_wanted(call->out)) {
    pawl_out_text(
      call->out, "%s%s/%s%s\n", pawl_out_colour(call->out, PAWL_COLOUR_BOLD), task->name, trigger->name, pawl_out_plain(call->out));
    print_sentences(call->out, sentences);
    print_occurrences(call->out, rows);
    return PAWL_EXIT_OK;
  }
  json_t *object = pawl_json_trigger(trigger, FALSE), *occurrences = json_array();
  for (guint i = 0; i < rows->len; i++) json_array_append_new(occurrences, pawl_json_occurrence(g_ptr_array_index(rows, i)));
  pawl_json_set_text(object, "project", task->project);
  pawl_json_set_text(object, "task", task->name);
  json_object_set_new(object, "sentences", pawl_json_texts(sentences));
  json_object_set_new(object, "occurrences", occurrences);
  pawl_out_json(call->out, object);
  return PAWL_EXIT_OK;
}

/* Prints a run with its sentences, or returns them with the run as JSON in `ret_json`. */
static gboolean explain_run(PawlCall *call, PawlStore *store, const PawlId *id, json_t **ret_json, GError **error) {
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  char text[PAWL_ID_TEXT];
  if (!pawl_store_explain_run(store, id, sentences, error)) return FALSE;
  PawlRunRow *run = pawl_store_run(store, id, error);
  if (run == NULL) return FALSE;
  if (ret_json != NULL) {
    *ret_json = pawl_json_run(run);
    json_object_set_new(*ret_json, "sentences", pawl_json_texts(sentences));
  } else {
    g_autofree char *name = pawl_full_name(run->task, run->trigger);
    pawl_out_text(call->out, "%srun %s of %s: %s%s\n", pawl_out_colour(call->out, PAWL_COLOUR_BOLD), pawl_id_short(id, text), name,
      pawl_run_state_name(run->state), pawl_out_plain(call->out));
    print_sentences(call->out, sentences);
  }
  pawl_run_row_free(run);
  return TRUE;
}

static void print_task(PawlOut *out, const PawlTaskRow *task, gint64 now_ms, gboolean away) {
  g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);
  pawl_out_text(out, "%s%s: %s%s\n", pawl_out_colour(out, PAWL_COLOUR_BOLD), task->name, task->state, pawl_out_plain(out));
  if (task->paused_at_ms != 0)
    say_pause(sentences, "It", task->paused_at_ms, task->pause_until_at_ms, task->paused_by, task->reason, now_ms);
  const char *are = away && task->running > 0
                      ? (task->running == 1 ? "was running when pawl went away" : "were running when pawl went away")
                    : task->running == 1 ? "is running"
                                         : "are running";
  say(sentences, "%d of its runs %s, %d wait%s.", task->running, are, task->waiting, task->waiting == 1 ? "s" : "");
  print_sentences(out, sentences);
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *trigger = g_ptr_array_index(task->triggers, i);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    say_state(lines, trigger, now_ms);
    pawl_out_text(out, "\n%s%s/%s%s\n", pawl_out_colour(out, PAWL_COLOUR_BOLD), task->name, trigger->name, pawl_out_plain(out));
    print_sentences(out, lines);
  }
}

static int explain_task(PawlCall *call, PawlStore *store, const PawlTaskRow *task, gint64 now_ms, GError **error) {
  static const PawlRunState unfinished[] = {PAWL_RUN_SCHEDULED, PAWL_RUN_QUEUED, PAWL_RUN_RUNNING, PAWL_RUN_RETRY_WAIT};
  const ExplainOptions *given = call->options;
  g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  PawlRunFilter filter = {
    .project = task->project, .task = task->name, .states = unfinished, .n_states = G_N_ELEMENTS(unfinished), .limit = given->count};
  if (!pawl_store_runs(store, &filter, runs, error)) return PAWL_EXIT_FAILED;
  g_autoptr(json_t) array = pawl_out_json_wanted(call->out) ? json_array() : NULL;
  if (array == NULL) print_task(call->out, task, now_ms, pawl_db_holder(pawl_store_db(store)) == 0);
  for (guint i = 0; i < runs->len; i++) {
    json_t *one = NULL;
    if (array == NULL) pawl_out_text(call->out, "\n");
    if (!explain_run(call, store, &((const PawlRunRow *)g_ptr_array_index(runs, i))->id, array != NULL ? &one : NULL, error))
      return PAWL_EXIT_FAILED;
    if (array != NULL) json_array_append_new(array, one);
  }
  if (array == NULL) return PAWL_EXIT_OK;
  json_t *object = pawl_json_task(task, FALSE);
  json_object_set(object, "unfinished", array);
  pawl_out_json(call->out, object);
  return PAWL_EXIT_OK;
}

static int run(PawlCall *call, GError **error) {
  g_auto(PawlSubject) subject = {0};
  gint64 now_ms;
  json_t *object = NULL;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_now(store, &now_ms, error) || !pawl_subject_find(call, store, call->args[0], &subject, error))
    return PAWL_EXIT_FAILED;
  if (subject.trigger != NULL) return explain_trigger(call, store, subject.task, subject.trigger, now_ms, error);
  if (subject.task != NULL) return explain_task(call, store, subject.task, now_ms, error);
  if (!explain_run(call, store, &subject.run, pawl_out_json_wanted(call->out) ? &object : NULL, error)) return PAWL_EXIT_FAILED;
  if (object != NULL) pawl_out_json(call->out, object);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_explain = {
  .name = "explain",
  .group = "Look",
  .summary = "Say why something ran, did not run, or waits",
  .synopsis = "TASK/TRIGGER|TASK|RUN",
  .json =
    "a run as in `pawl runs` with sentences; a trigger as in `pawl list` with sentences and occurrences: [{from, to, count, exact, outcome, reason, "
    "run_id, run_state}]; a task as in `pawl list` with unfinished: [runs with sentences]",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, ExplainOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run,
};
