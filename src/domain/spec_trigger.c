/* SPDX-License-Identifier: Apache-2.0 */
/* Trigger specs: the table of keys, and what must hold between them. */
#include "domain/spec_trigger.h"
#include "domain/spec_task.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

#define FIELD(name) G_STRUCT_OFFSET(PawlTriggerSpec, name)
#define QUEUE_MAX 10000

const PawlWord pawl_misfire_words[] = {
  {"fire_once", PAWL_MISFIRE_FIRE_ONCE}, {"skip", PAWL_MISFIRE_SKIP}, {"fire_all", PAWL_MISFIRE_FIRE_ALL}, {NULL, 0}};
const PawlWord pawl_overlap_words[] = {
  {"skip", PAWL_OVERLAP_SKIP}, {"allow", PAWL_OVERLAP_ALLOW}, {"replace", PAWL_OVERLAP_REPLACE}, {NULL, 0}};

static void read_cron(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTriggerSpec *spec = target;
  if (json_is_number(value) || json_is_array(value)) {
    pawl_say_error(reader, "quote the expression: cron: \"0,30 2 * * *\"", "expected %s, found %s", key->expected,
      json_is_number(value) ? "a number" : "a list");
    return;
  }
  pawl_read_text(reader, key, value, target);
  if (spec->expression != NULL) spec->timing.kind = PAWL_TIMING_CRON;
}

static void read_every(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  ((PawlTriggerSpec *)target)->timing.kind = PAWL_TIMING_EVERY;
  pawl_read_duration(reader, key, value, target);
}

static void read_at(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  ((PawlTriggerSpec *)target)->timing.kind = PAWL_TIMING_AT;
  pawl_read_instant(reader, key, value, target);
}

static void read_zone(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  g_autoptr(GError) error = NULL;
  PawlZone *zone = json_is_string(value) ? pawl_zone_new(json_string_value(value), &error) : NULL;
  if (zone != NULL)
    pawl_read_text(reader, key, value, target);
  else if (error != NULL)
    pawl_say_gerror(reader, NULL, &error);
  else
    pawl_say_expected(reader, key->expected, value);
  g_clear_pointer(&zone, pawl_zone_unref);
}

/* "skip", {queue: 3}, or as text "queue: 3" (what one gets from overlap: "queue: 3"). */
static void read_overlap(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  static const PawlKey rows[] = {{.name = "queue",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_int,
    .offset = FIELD(overlap_queue),
    .min = 1,
    .max = QUEUE_MAX,
    .expected = "a number of runs"}};
  static const PawlKeyTable table = {.keys = rows, .n = G_N_ELEMENTS(rows), .what = "overlap"};
  PawlTriggerSpec *spec = target;
  const char *text = json_string_value(value);
  g_autoptr(json_t) parsed = NULL;
  if (text != NULL && g_str_has_prefix(text, "queue:")) {
    char *end;
    const char *digits = text + strlen("queue:");
    digits += strspn(digits, " ");
    gint64 n = g_ascii_strtoll(digits, &end, 10);
    if (end == digits || *end != '\0') {
      pawl_say_error(reader, "overlap: {queue: 3}", "it does not say how many runs may wait");
      return;
    }
    parsed = json_pack("{sI}", "queue", (json_int_t)n);
    value = parsed;
  }
  if (!json_is_object(value)) {
    pawl_read_word(reader, key, value, target);
    if (spec->overlap != PAWL_OVERLAP_QUEUE) spec->overlap_queue = 0;
    return;
  }
  spec->overlap = PAWL_OVERLAP_QUEUE;
  pawl_read_object(reader, &table, PAWL_IN_FILE, value, target, FALSE);
  if (json_object_get(value, "queue") == NULL) pawl_say_error(reader, "overlap: {queue: 3}", "it does not say how many runs may wait");
}

/* clang-format off */
const PawlKey pawl_trigger_rows[PAWL_TRIGGER_ROWS] = {
  {.name = "cron", .scopes = PAWL_IN_SPEC, .read = read_cron, .offset = FIELD(expression), .min = 1, .max = 1024,
    .expected = "a text, a cron expression"},
  {.name = "every", .scopes = PAWL_IN_SPEC, .read = read_every, .offset = FIELD(timing.every_ms), .min = PAWL_SECOND_MS,
    .expected = "a duration such as 15m"},
  {.name = "at", .scopes = PAWL_IN_SPEC, .read = read_at, .offset = FIELD(timing.at_ms),
    .expected = "a text, an instant such as 2027-01-31T02:00:00Z"},
  {.name = "offset", .scopes = PAWL_IN_SPEC, .read = pawl_read_duration, .offset = FIELD(timing.offset_ms), .expected = "a duration such as 5m"},
  {.name = "zone", .scopes = PAWL_EVERYWHERE, .read = read_zone, .offset = FIELD(zone), .min = 1, .expected = "a text, a zone such as Europe/Berlin"},
  {.name = "seconds", .scopes = PAWL_IN_SPEC, .read = pawl_read_bool, .offset = FIELD(seconds), .expected = "true or false"},
  {.name = "from", .scopes = PAWL_IN_SPEC, .read = pawl_read_instant, .offset = FIELD(timing.from_ms), .none = "none",
    .expected = "a text, an instant such as 2027-01-31T02:00:00Z"},
  {.name = "until", .scopes = PAWL_IN_SPEC, .read = pawl_read_instant, .offset = FIELD(timing.until_ms), .none = "none",
    .expected = "a text, an instant such as 2027-01-31T02:00:00Z"},
  {.name = "jitter", .scopes = PAWL_IN_SPEC, .read = pawl_read_duration, .offset = FIELD(timing.jitter_ms), .none = "none",
    .expected = "a duration such as 30s"},
  {.name = "misfire", .scopes = PAWL_EVERYWHERE, .read = pawl_read_word, .offset = FIELD(misfire.misfire), .words = pawl_misfire_words,
    .expected = "'fire_once', 'skip' or 'fire_all'"},
  {.name = "misfire_limit", .scopes = PAWL_EVERYWHERE, .read = pawl_read_int64, .offset = FIELD(misfire.misfire_limit), .min = 1, .max = 1000000,
    .expected = "a number of runs"},
  {.name = "misfire_grace", .scopes = PAWL_EVERYWHERE, .read = pawl_read_duration, .offset = FIELD(misfire.grace_ms), .none = "auto",
    .none_value = -1, .expected = "a duration such as 5m, or auto"},
  {.name = "overlap", .scopes = PAWL_EVERYWHERE, .read = read_overlap, .offset = FIELD(overlap), .words = pawl_overlap_words,
    .expected = "'skip', 'allow', 'replace' or {queue: 3}"},
  {.name = "task_revision", .scopes = PAWL_IN_SPEC, .read = pawl_read_int, .offset = FIELD(task_revision), .min = 1, .max = G_MAXINT,
    .none = "newest", .expected = "a number of a revision"},
  {.name = "input", .scopes = PAWL_IN_SPEC, .read = pawl_read_input, .offset = FIELD(input), .expected = "a text or any JSON"},
  {.name = "enabled", .scopes = PAWL_IN_SPEC, .read = pawl_read_bool, .offset = FIELD(enabled), .expected = "true or false"},
};
/* clang-format on */

static const PawlKey task_hints[] = {{.name = "exec"}, {.name = "shell"}, {.name = "noop"}, {.name = "timeout"}, {.name = "retry"},
  {.name = "pool"}, {.name = "env"}, {.name = "cwd"}, {.name = "user"}, {.name = "priority"}, {.name = "max_active"},
  {.name = "start_within"}, {.name = "mail"}, {.name = "keep"}, {.name = "output"}, {.name = "slots"}, {.name = "kill_after"}};
const PawlKeyTable pawl_trigger_keys = {.keys = pawl_trigger_rows,
  .n = PAWL_TRIGGER_ROWS,
  .what = "a trigger",
  .elsewhere = task_hints,
  .n_elsewhere = G_N_ELEMENTS(task_hints),
  .elsewhere_what = "the task"};

PawlTriggerSpec *pawl_trigger_spec_new(void) {
  PawlTriggerSpec *spec = g_new0(PawlTriggerSpec, 1);
  spec->zone = g_strdup(PAWL_DEFAULT_ZONE);
  spec->misfire = (PawlMisfireRule){PAWL_MISFIRE_FIRE_ONCE, PAWL_DEFAULT_MISFIRE_LIMIT, -1};
  spec->overlap = PAWL_OVERLAP_SKIP;
  spec->enabled = TRUE;
  return spec;
}

void pawl_trigger_spec_free(PawlTriggerSpec *spec) {
  if (spec == NULL) return;
  g_free(spec->expression);
  g_free(spec->zone);
  g_free(spec->input);
  pawl_timing_clear(&spec->timing);
  g_free(spec);
}

char *pawl_trigger_full_name(const char *project, const char *task, const char *trigger) {
  return g_strdup_printf("%s/%s/%s", project, task, trigger);
}

static gboolean check_timing_kind(PawlReader *reader, const json_t *object) {
  static const char *const kinds[] = {"cron", "every", "at"};
  const char *first = NULL;
  gboolean ok = TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    PawlSpot spot;
    if (json_object_get(object, kinds[i]) == NULL) continue;
    if (first != NULL) {
      pawl_enter_key(reader, &spot, object, kinds[i]);
      pawl_say_key_error(reader, NULL, "a trigger has one of cron, every and at, and this one has '%s' already", first);
      pawl_leave(reader);
      ok = FALSE;
    } else
      first = kinds[i];
  }
  if (first != NULL) return ok;
  pawl_say_error(reader, "write cron: \"0 2 * * *\", every: 15m or at: \"2027-01-31T02:00:00Z\"", "it does not say when to run");
  return FALSE;
}

/* Parses the expression; what it does not apply to is set to one value, so that equal triggers have equal normal forms. */
static void build_cron(PawlReader *reader, const json_t *object, PawlTriggerSpec *spec, const char *full_name) {
  PawlSpot spot;
  g_autoptr(GError) error = NULL;
  PawlZone *zone = pawl_zone_new(spec->zone, NULL);
  if (zone == NULL) return; /* said already */
  spec->timing.cron = pawl_cron_parse(spec->expression, spec->seconds ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES, full_name, zone, &error);
  pawl_zone_unref(zone);
  pawl_enter_key(reader, &spot, object, "cron");
  if (error != NULL) pawl_say_gerror(reader, NULL, &error);
  pawl_leave(reader);
  if (spec->timing.cron != NULL && pawl_cron_is_reboot(spec->timing.cron)) spec->timing.kind = PAWL_TIMING_REBOOT;
}

static void say_at(PawlReader *reader, const json_t *object, const char *key, const char *hint, const char *message) {
  PawlSpot spot;
  pawl_enter_key(reader, &spot, object, key);
  pawl_say_error(reader, hint, "%s", message);
  pawl_leave(reader);
}

static void check_timing(PawlReader *reader, const json_t *object, const PawlTriggerSpec *spec) {
  const PawlTiming *timing = &spec->timing;
  if (timing->kind == PAWL_TIMING_EVERY && timing->offset_ms >= timing->every_ms)
    say_at(reader, object, "offset", NULL, "not shorter than every");
  if (timing->kind != PAWL_TIMING_EVERY && json_object_get(object, "offset") != NULL)
    say_at(reader, object, "offset", NULL, "only a trigger with every has an offset");
  if (timing->until_ms != 0 && timing->until_ms <= timing->from_ms) say_at(reader, object, "until", NULL, "not after from");
  if (timing->jitter_ms == 0) return;
  gint64 gap_ms = pawl_timing_shortest_gap_ms(timing);
  if (gap_ms == 0 || timing->jitter_ms < gap_ms) return;
  g_autofree char *gap = pawl_duration_text(gap_ms);
  g_autofree char *message = g_strdup_printf("not shorter than the shortest gap between two occurrences, %s", gap);
  say_at(reader, object, "jitter", NULL, message);
}

PawlTriggerSpec *pawl_trigger_spec_read(
  PawlReader *reader, const json_t *defaults, const json_t *object, guint scope, const char *full_name) {
  PawlTriggerSpec *spec = pawl_trigger_spec_new();
  guint before = reader->errors;
  if (defaults != NULL) {
    PawlReader quiet = *reader;
    quiet.quiet = TRUE;
    pawl_read_object(&quiet, &pawl_trigger_keys, PAWL_IN_DEFAULTS, defaults, spec, TRUE);
  }
  pawl_read_object(reader, &pawl_trigger_keys, scope, object, spec, FALSE);
  gboolean one_kind = check_timing_kind(reader, object);
  if (one_kind && spec->expression != NULL) build_cron(reader, object, spec, full_name);
  if (spec->timing.kind != PAWL_TIMING_CRON) {
    g_free(spec->zone);
    spec->zone = g_strdup(PAWL_DEFAULT_ZONE);
    spec->seconds = FALSE;
  }
  /* what is stored was checked when it was published; a newer zone database must not break it */
  if (reader->errors == before && !reader->stored) check_timing(reader, object, spec);
  return spec;
}

void pawl_trigger_warn(PawlReader *reader, const json_t *object, const PawlTriggerSpec *spec) {
  static const char *const keys[] = {"cron", "every", "at", "cron"};
  PawlSpot spot;
  gint64 at_ms;
  if ((spec->timing.kind == PAWL_TIMING_EVERY || spec->timing.kind == PAWL_TIMING_AT) && json_object_get(object, "zone") != NULL) {
    pawl_enter_key(reader, &spot, object, "zone");
    pawl_say_warning(reader, NULL, "has no effect: only a cron expression is read in a zone");
    pawl_leave(reader);
  }
  if (spec->timing.kind == PAWL_TIMING_REBOOT || pawl_timing_next(&spec->timing, -1, &at_ms)) return;
  pawl_enter_key(reader, &spot, object, keys[spec->timing.kind]);
  if (spec->timing.from_ms != 0 || spec->timing.until_ms != 0)
    pawl_say_warning(reader, NULL, "never fires between from and until");
  else
    pawl_say_warning(reader, NULL, "never fires");
  pawl_leave(reader);
}

PawlTriggerSpec *pawl_trigger_spec_from_stored(
  const char *json, const char *project, const char *task, const char *trigger, GError **error) {
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autofree char *full_name = pawl_trigger_full_name(project, task, trigger);
  PawlReader reader = {.issues = issues, .file = "", .stored = TRUE};
  g_autoptr(json_t) tree = pawl_stored_parse(json, "trigger", error);
  if (tree == NULL) return NULL;
  g_autoptr(PawlTriggerSpec) spec = pawl_trigger_spec_read(&reader, NULL, tree, PAWL_IN_STORED, full_name);
  if (!pawl_stored_check(&reader, "trigger", error)) return NULL;
  return g_steal_pointer(&spec);
}
