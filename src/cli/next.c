/* SPDX-License-Identifier: Apache-2.0 */
/* pawl next: when something fires. An expression is computed here; the triggers of a file or of the store in next_trigger.c. */
#include "cli/next.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

static const PawlOption options[] = {
  {"zone", 0, PAWL_OPTION_TEXT, offsetof(PawlNextOptions, zone), "ZONE", "Time zone of the expression (default UTC)", 0, 0, 0},
  {"after", 0, PAWL_OPTION_TEXT, offsetof(PawlNextOptions, after), "INSTANT", "Instants after this one (default now)", 0, 0, 0},
  {"count", 'n', PAWL_OPTION_COUNT, offsetof(PawlNextOptions, count), "N", "So many, 1 to 10000 (default 5)", 5, 1, 10000},
  {"seconds", 0, PAWL_OPTION_FLAG, offsetof(PawlNextOptions, seconds), NULL, "Six fields are meant, seconds first, or seven with years", 0,
    0, 0},
  {"explain", 0, PAWL_OPTION_FLAG, offsetof(PawlNextOptions, explain), NULL, "Say in a sentence what it means, and warn", 0, 0, 0},
  {"hash", 0, PAWL_OPTION_TEXT, offsetof(PawlNextOptions, hash), "KEY", "What H is spread by; of a trigger it is PROJECT/TASK/TRIGGER", 0,
    0, 0},
  {"file", 'f', PAWL_OPTION_FILE, offsetof(PawlNextOptions, file), "FILE", "The triggers of this file", 0, 0, 0},
};

static const PawlExample examples[] = {
  {"pawl next '30 2 * * *' --zone Europe/Berlin -n 3", "the coming instants of an expression"},
  {"pawl next '*/10 * * * * *' --seconds --json", "six fields, for a program"},
  {"pawl next --explain '0 0 13 * 5'", "in English, with warnings"},
  {"pawl next backup/nightly", "a trigger of the store, with its jitter"},
  {"pawl next -f pawl.yaml", "all triggers of a file"},
};

void pawl_next_row(PawlTable *table, const PawlZone *zone, gint64 at_ms, gint64 now_ms, gint *last_offset_s) {
  char utc[PAWL_INSTANT_TEXT];
  gint offset_s = pawl_zone_offset_s(zone, at_ms);
  g_autoptr(GDateTime) civil = g_date_time_new_from_unix_utc(at_ms / 1000 + offset_s);
  g_autofree char *day = g_date_time_format(civil, "%a %Y-%m-%d %H:%M:%S"), *relative = pawl_relative_text(at_ms, now_ms);
  gboolean changed = *last_offset_s != G_MININT && offset_s != *last_offset_s;
  pawl_table_cellf(table, PAWL_COLOUR_NONE, "%s %c%02d:%02d", day, offset_s < 0 ? '-' : '+', ABS(offset_s) / 3600, ABS(offset_s) / 60 % 60);
  pawl_table_cell(table, PAWL_COLOUR_NONE, pawl_instant_text_short(at_ms, utc));
  pawl_table_cell(table, PAWL_COLOUR_DIM, relative);
  pawl_table_cell(table, PAWL_COLOUR_WARN, changed ? "the clock has changed" : NULL);
  *last_offset_s = offset_s;
}

/* The instants, and whether there are no more. */
static GArray *walk(const PawlCron *cron, gint64 after_ms, gint count, gboolean *ret_complete) {
  GArray *instants = g_array_new(FALSE, FALSE, sizeof(gint64));
  gint64 at_ms = after_ms;
  while (instants->len < (guint)count && pawl_cron_next(cron, at_ms, &at_ms)) g_array_append_val(instants, at_ms);
  *ret_complete = instants->len < (guint)count || !pawl_cron_next(cron, at_ms, &at_ms);
  return instants;
}

static void print_json(PawlOut *out, const char *expression, const PawlCron *cron, const GArray *instants, gboolean complete,
  const char *sentence, const GPtrArray *warnings) {
  json_t *object = json_object(), *next = json_array();
  char text[PAWL_INSTANT_TEXT];
  pawl_json_set_text(object, "expression", expression);
  pawl_json_set_text(object, "zone", pawl_zone_name(pawl_cron_zone(cron)));
  for (guint i = 0; i < instants->len; i++)
    json_array_append_new(next, json_string(pawl_instant_text_short(g_array_index(instants, gint64, i), text)));
  json_object_set_new(object, "next", next);
  json_object_set_new(object, "complete", json_boolean(complete));
  if (sentence != NULL) pawl_json_set_text(object, "sentence", sentence);
  if (warnings != NULL) json_object_set_new(object, "warnings", pawl_json_texts(warnings));
  pawl_out_json(out, object);
}

static void print_table(PawlOut *out, const PawlCron *cron, const GArray *instants, gboolean complete, gint64 now_ms) {
  static const PawlColumn columns[] = {{"IN ITS ZONE", FALSE, FALSE}, {"UTC", FALSE, FALSE}, {"", FALSE, FALSE}, {"", FALSE, TRUE}};
  gint last_offset_s = G_MININT;
  if (instants->len == 0) {
    pawl_out_text(out, pawl_cron_is_reboot(cron) ? "it has no instants: it fires once at each start of the machine\n" : "it never fires\n");
    return;
  }
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < instants->len; i++)
    pawl_next_row(table, pawl_cron_zone(cron), g_array_index(instants, gint64, i), now_ms, &last_offset_s);
  pawl_table_print(table, out);
  if (complete) pawl_out_text(out, "and never again\n");
}

void pawl_next_print_warnings(PawlOut *out, const char *sentence, const GPtrArray *warnings) {
  pawl_out_text(out, "%s\n", sentence);
  for (guint i = 0; i < warnings->len; i++)
    pawl_out_text(
      out, "%swarning:%s %s\n", pawl_out_colour(out, PAWL_COLOUR_WARN), pawl_out_plain(out), (const char *)g_ptr_array_index(warnings, i));
}

/* An expression that is read with --seconds only gets that hint. */
static PawlCron *parse(const char *expression, gboolean seconds, const char *hash, PawlZone *zone, GError **error) {
  PawlCron *cron = pawl_cron_parse(expression, seconds ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES, hash, zone, error);
  if (cron != NULL || seconds) return cron;
  PawlCron *with_seconds = pawl_cron_parse(expression, PAWL_CRON_SECONDS, hash, zone, NULL);
  if (with_seconds == NULL) return NULL;
  pawl_cron_unref(with_seconds);
  g_autofree char *why = g_strdup((*error)->message);
  g_clear_error(error);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%s; here: add --seconds", why);
  return NULL;
}

static int next_expression(PawlCall *call, const char *expression, gint64 after_ms, GError **error) {
  const PawlNextOptions *given = call->options;
  g_autofree char *sentence = NULL;
  g_autoptr(GPtrArray) warnings = NULL;
  gboolean complete;
  PawlZone *zone = pawl_zone_new(given->zone != NULL ? given->zone : "UTC", error);
  if (zone == NULL) return PAWL_EXIT_USAGE;
  PawlCron *cron = parse(expression, given->seconds, given->hash, zone, error);
  pawl_zone_unref(zone);
  if (cron == NULL) return PAWL_EXIT_USAGE;
  g_autoptr(GArray) instants = walk(cron, after_ms, given->count, &complete);
  if (given->explain) {
    sentence = pawl_cron_explain(cron);
    warnings = pawl_cron_warnings(cron, after_ms);
  }
  if (pawl_out_json_wanted(call->out)) {
    print_json(call->out, expression, cron, instants, complete, sentence, warnings);
  } else {
    if (given->explain) pawl_next_print_warnings(call->out, sentence, warnings);
    print_table(call->out, cron, instants, complete, pawl_clock_wall_ms());
  }
  pawl_cron_unref(cron);
  return PAWL_EXIT_OK;
}

/* A reference is made of names, and has a letter: a lone number or step is an expression that lacks fields. */
static gboolean is_reference(const char *text) {
  g_autofree char *task = NULL, *trigger = NULL;
  return strpbrk(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL && pawl_reference_split(text, &task, &trigger, NULL);
}

static int run(PawlCall *call, GError **error) {
  const PawlNextOptions *given = call->options;
  const char *what = call->n_args > 0 ? call->args[0] : NULL;
  gint64 after_ms = pawl_clock_wall_ms();
  if (call->n_args > 1)
    return pawl_usage_error(call, error, "give one expression, in quotes: pawl next '%s %s ...'", call->args[0], call->args[1]);
  if (given->after != NULL && strcmp(given->after, "now") != 0 && !pawl_instant_parse(given->after, &after_ms, error)) {
    g_prefix_error(error, "--after: ");
    return PAWL_EXIT_USAGE;
  }
  if (given->file != NULL) return pawl_next_file(call, what, after_ms, error);
  if (what == NULL) return pawl_usage_error(call, error, "give an expression, TASK/TRIGGER, or a file with -f");
  if (is_reference(what) && !given->seconds && given->zone == NULL) return pawl_next_stored(call, what, after_ms, error);
  return next_expression(call, what, after_ms, error);
}

const PawlVerb pawl_verb_next = {
  .name = "next",
  .group = "Look",
  .summary = "Show when something fires",
  .synopsis = "EXPRESSION|TASK|TASK/TRIGGER",
  .description =
    "Of an expression: five fields, or six or seven with --seconds; @hourly and its kin; @every DURATION; CRON_TZ=ZONE before it. Of a trigger: the "
    "nominal instants and, with jitter, when each one's run is due. An expression that can't be read is refused with the column and the reason "
    "(exit code 2).",
  .json = "{expression, zone, next: [instants], complete: no more exist}, with --explain also sentence and warnings; of triggers "
          "an array of {project, task, trigger, state, expression, zone, next, due, complete}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, PawlNextOptions),
  .min_args = 0,
  .max_args = -1,
  .run = run,
};
