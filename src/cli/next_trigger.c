/* SPDX-License-Identifier: Apache-2.0 */
/* pawl next, of the triggers of a file or of the store. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/bundle.h"
#include "cli/next.h"
#include "cli/shapes.h"

#include <string.h>

typedef struct {
  const char *project, *task, *trigger, *state; /* state NULL: of a file */
  const PawlTriggerSpec *spec;
  const PawlId *id; /* NULL: of a file, so that the jitter is not known yet */
  gint64 cursor_ms; /* the occurrence that comes next, as the store says; 0: not known */
} Subject;

typedef struct {
  PawlCall *call;
  gint64 after_ms, now_ms;
  json_t *array; /* with --json */
} Report;

/* Where a walk from the cursor begins. "@every" counts from its cursor on; all others can begin anywhere. TRUE: the cursor is the first. */
static gboolean begin_at_cursor(const Subject *subject, gint64 *after_ms, gboolean after_given) {
  const PawlTiming *timing = &subject->spec->timing;
  gint64 cursor_ms = subject->cursor_ms, second_ms;
  if (cursor_ms == 0) return FALSE;
  if (!after_given || cursor_ms > *after_ms) return TRUE;
  if (timing->kind == PAWL_TIMING_CRON && strstr(subject->spec->expression, "@every") != NULL &&
      pawl_timing_next(timing, cursor_ms, &second_ms) && second_ms > cursor_ms)
    *after_ms -= (*after_ms - cursor_ms) % (second_ms - cursor_ms);
  return FALSE;
}

static GArray *walk(const Subject *subject, gint64 after_ms, gboolean after_given, gint count, gboolean *ret_complete) {
  const PawlTiming *timing = &subject->spec->timing;
  GArray *instants = g_array_new(FALSE, FALSE, sizeof(gint64));
  gint64 at_ms = after_ms;
  if (begin_at_cursor(subject, &at_ms, after_given)) {
    at_ms = subject->cursor_ms;
    g_array_append_val(instants, at_ms);
  }
  while (instants->len < (guint)count && pawl_timing_next(timing, at_ms, &at_ms)) g_array_append_val(instants, at_ms);
  *ret_complete = instants->len < (guint)count || !pawl_timing_next(timing, at_ms, &at_ms);
  return instants;
}

/* The zone that the expression is read in: its own CRON_TZ= goes first. */
static const char *zone_of(const PawlTriggerSpec *spec) {
  return spec->timing.cron != NULL ? pawl_zone_name(pawl_cron_zone(spec->timing.cron)) : spec->zone;
}

static gint64 due_of(const Subject *subject, gint64 nominal_ms) {
  return subject->id != NULL ? nominal_ms + pawl_timing_jitter(&subject->spec->timing, subject->id, nominal_ms) : nominal_ms;
}

static void add_json(Report *report, const Subject *subject, const GArray *instants, gboolean complete) {
  json_t *object = json_object(), *next = json_array(), *due = json_array();
  g_autofree char *expression = pawl_timing_text(subject->spec);
  char text[PAWL_INSTANT_TEXT];
  for (guint i = 0; i < instants->len; i++) {
    gint64 at_ms = g_array_index(instants, gint64, i);
    json_array_append_new(next, json_string(pawl_instant_text_short(at_ms, text)));
    json_array_append_new(due, json_string(pawl_instant_text(due_of(subject, at_ms), text)));
  }
  pawl_json_set_text(object, "project", subject->project);
  pawl_json_set_text(object, "task", subject->task);
  pawl_json_set_text(object, "trigger", subject->trigger);
  pawl_json_set_text(object, "state", subject->state);
  pawl_json_set_text(object, "expression", expression);
  pawl_json_set_text(object, "zone", zone_of(subject->spec));
  json_object_set_new(object, "next", next);
  if (subject->id != NULL)
    json_object_set_new(object, "due", due);
  else
    json_decref(due);
  json_object_set_new(object, "complete", json_boolean(complete));
  json_array_append_new(report->array, object);
}

static void print_head(PawlOut *out, const Subject *subject) {
  const PawlTiming *timing = &subject->spec->timing;
  g_autofree char *expression = pawl_timing_text(subject->spec), *jitter = pawl_duration_text(timing->jitter_ms);
  pawl_out_text(out, "%s%s/%s%s  %s  %s", pawl_out_colour(out, PAWL_COLOUR_BOLD), subject->task, subject->trigger, pawl_out_plain(out),
    expression, zone_of(subject->spec));
  if (timing->jitter_ms > 0) pawl_out_text(out, "  jitter up to %s", jitter);
  if (subject->state != NULL && strcmp(subject->state, "active") != 0) pawl_out_text(out, "  (%s)", subject->state);
  pawl_out_text(out, "\n");
}

static void print_subject(Report *report, const Subject *subject, const GArray *instants, gboolean complete) {
  static const PawlColumn columns[] = {
    {"IN ITS ZONE", FALSE, FALSE}, {"UTC", FALSE, FALSE}, {"", FALSE, FALSE}, {"", FALSE, TRUE}, {"DUE", FALSE, TRUE}};
  gboolean jitter = subject->id != NULL && subject->spec->timing.jitter_ms > 0;
  PawlOut *out = report->call->out;
  gint last_offset_s = G_MININT;
  PawlZone *zone = pawl_zone_new(zone_of(subject->spec), NULL);
  print_head(out, subject);
  if (zone == NULL) zone = pawl_zone_new("UTC", NULL);
  PawlTable *table = pawl_table_new(columns, jitter ? 5 : 4);
  for (guint i = 0; i < instants->len; i++) {
    gint64 at_ms = g_array_index(instants, gint64, i);
    char due[PAWL_INSTANT_TEXT];
    pawl_next_row(table, zone, at_ms, report->now_ms, &last_offset_s);
    if (jitter) pawl_table_cell(table, PAWL_COLOUR_NONE, pawl_instant_text(due_of(subject, at_ms), due));
  }
  pawl_zone_unref(zone);
  if (instants->len > 0)
    pawl_table_print(table, out);
  else
    pawl_table_free(table);
  if (subject->spec->timing.kind == PAWL_TIMING_REBOOT)
    pawl_out_text(out, "fires once at each start of the machine\n");
  else if (complete)
    pawl_out_text(out, instants->len > 0 ? "and never again\n" : "never fires (any more)\n");
}

static void report_subject(Report *report, const Subject *subject) {
  const PawlNextOptions *given = report->call->options;
  const PawlCron *cron = subject->spec->timing.cron;
  gboolean complete;
  g_autoptr(GArray) instants = walk(subject, report->after_ms, given->after != NULL, given->count, &complete);
  if (report->array != NULL) {
    add_json(report, subject, instants, complete);
    return;
  }
  print_subject(report, subject, instants, complete);
  if (given->explain && cron != NULL) {
    g_autofree char *sentence = pawl_cron_explain(cron);
    g_autoptr(GPtrArray) warnings = pawl_cron_warnings(cron, report->after_ms);
    pawl_next_print_warnings(report->call->out, sentence, warnings);
  }
  pawl_out_text(report->call->out, "\n");
}

static int end_report(Report *report, guint n, const char *reference, GError **error) {
  if (n == 0 && reference != NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no trigger '%.200s'; see `pawl list`", reference);
    if (report->array != NULL) json_decref(report->array);
    return PAWL_EXIT_FAILED;
  }
  if (report->array != NULL)
    pawl_out_json(report->call->out, report->array);
  else if (n == 0)
    pawl_out_note(report->call->out, "there are no triggers");
  return PAWL_EXIT_OK;
}

static Report new_report(PawlCall *call, gint64 after_ms) {
  return (Report){
    .call = call, .after_ms = after_ms, .now_ms = pawl_clock_wall_ms(), .array = pawl_out_json_wanted(call->out) ? json_array() : NULL};
}

int pawl_next_file(PawlCall *call, const char *reference, gint64 after_ms, GError **error) {
  const PawlNextOptions *given = call->options;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autofree char *task = NULL, *trigger = NULL;
  guint n = 0;
  if (reference != NULL && !pawl_reference_split(reference, &task, &trigger, error)) return PAWL_EXIT_USAGE;
  g_autoptr(PawlBundle) bundle = pawl_bundle_read(call, given->file, issues, error);
  if (bundle == NULL) return PAWL_EXIT_CONFIG;
  Report report = new_report(call, after_ms);
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *def = g_ptr_array_index(bundle->tasks, i);
    if (task != NULL && strcmp(task, def->name) != 0) continue;
    for (guint j = 0; j < def->triggers->len; j++) {
      const PawlTriggerDef *one = g_ptr_array_index(def->triggers, j);
      if (trigger != NULL && strcmp(trigger, one->name) != 0) continue;
      Subject subject = {.project = bundle->project, .task = def->name, .trigger = one->name, .spec = one->spec};
      report_subject(&report, &subject);
      n++;
    }
  }
  return end_report(&report, n, reference, error);
}

int pawl_next_stored(PawlCall *call, const char *reference, gint64 after_ms, GError **error) {
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_autofree char *name = NULL, *trigger = NULL;
  guint n = 0;
  if (!pawl_reference_split(reference, &name, &trigger, error)) return PAWL_EXIT_USAGE;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_tasks(store, pawl_call_project(call), name, tasks, error)) return PAWL_EXIT_FAILED;
  Report report = new_report(call, after_ms);
  for (guint i = 0; i < tasks->len; i++) {
    const PawlTaskRow *task = g_ptr_array_index(tasks, i);
    for (guint j = 0; j < task->triggers->len; j++) {
      const PawlTriggerRow *row = g_ptr_array_index(task->triggers, j);
      if (trigger != NULL && strcmp(trigger, row->name) != 0) continue;
      g_autoptr(PawlTriggerSpec) spec = pawl_trigger_spec_from_stored(row->json, task->project, task->name, row->name, error);
      if (spec == NULL) {
        if (report.array != NULL) json_decref(report.array);
        return PAWL_EXIT_FAILED;
      }
      Subject subject = {.project = task->project,
        .task = task->name,
        .trigger = row->name,
        .state = row->state,
        .spec = spec,
        .id = &row->id,
        .cursor_ms = row->next_fire_at_ms};
      report_subject(&report, &subject);
      n++;
    }
  }
  return end_report(&report, n, reference, error);
}
