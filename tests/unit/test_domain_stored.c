/* SPDX-License-Identifier: Apache-2.0 */
/* Stored revisions read back to equal specs, digests do not depend on how a file is written, and the printed defaults are the real ones. */
#include "base/clock.h"
#include "base/error.h"
#include "domain/spec.h"
#include "test_domain.h"

static const char *const full =
  "tasks:\n  a:\n    exec: [x, '', \"\xc3\xa4\"]\n    description: d\n    cwd: /c\n    env: {B: {from_file: /f}, A: '1', C: {from_env: E}}\n    env_pass: [Z, Y]\n"
  "    user: u\n    umask: '007'\n    input: {b: 1, a: [true, null, 1.5]}\n    pool: io\n    slots: 3\n    priority: -5\n    max_active: 4\n    timeout: 90s\n"
  "    kill_after: 0s\n    start_within: 1w\n    retry: {attempts: 7, backoff: 1ms, max_backoff: 1h, when: [lost, failed], later: true}\n    background: keep\n"
  "    mail: {to: m, when: always}\n    keep: 0s\n    output: 0\n    triggers:\n"
  "      c: {cron: 'H H * * *', zone: Asia/Tokyo, jitter: 5m, misfire: fire_all, misfire_limit: 3, misfire_grace: 0s, overlap: {queue: 9}, input: x}\n"
  "      s: {cron: '0 0 0 1 1 ? 2030-2032', seconds: true, overlap: replace, enabled: false}\n"
  "      e: {every: 90m, offset: 30m, from: '2027-01-01T00:00:00.5Z', until: '2028-01-01T00:00:00Z', overlap: allow, task_revision: 4}\n"
  "      a: {at: '2027-06-01T12:00:00+02:00', misfire: skip}\n      r: {cron: '@reboot'}\n"
  "  b: {shell: {command: c, program: /bin/bash}}\n  n: {noop: {}}\npools: {io: {slots: 3}}\n";

static void check_task(const PawlTaskSpec *a, const PawlTaskSpec *b) {
  g_assert_cmpint(a->kind, ==, b->kind);
  g_assert_cmpint(a->argv != NULL, ==, b->argv != NULL);
  if (a->argv != NULL) g_assert_cmpstrv(a->argv, b->argv);
  g_assert_cmpstr(a->command, ==, b->command);
  g_assert_cmpstr(a->shell, ==, b->shell);
  g_assert_cmpstr(a->description, ==, b->description);
  g_assert_cmpstr(a->cwd, ==, b->cwd);
  g_assert_cmpint(a->env->len, ==, b->env->len);
  for (guint i = 0; i < a->env->len; i++) {
    const PawlEnvVar *x = g_ptr_array_index(a->env, i), *y = g_ptr_array_index(b->env, i);
    g_assert_cmpstr(x->name, ==, y->name);
    g_assert_cmpstr(x->value, ==, y->value);
    g_assert_cmpint(x->source, ==, y->source);
  }
  g_assert_cmpstrv(a->env_pass, b->env_pass);
  g_assert_cmpstr(a->user, ==, b->user);
  g_assert_cmpint(a->umask, ==, b->umask);
  g_assert_cmpstr(a->input, ==, b->input);
  g_assert_cmpstr(a->pool, ==, b->pool);
  g_assert_true(a->slots == b->slots && a->priority == b->priority && a->max_active == b->max_active);
  g_assert_true(a->timeout_ms == b->timeout_ms && a->kill_after_ms == b->kill_after_ms && a->start_within_ms == b->start_within_ms);
  g_assert_true(a->retry_attempts == b->retry_attempts && a->retry_backoff_ms == b->retry_backoff_ms);
  g_assert_true(a->retry_max_backoff_ms == b->retry_max_backoff_ms && a->retry_when == b->retry_when && a->retry_later == b->retry_later);
  g_assert_true(a->keep_background == b->keep_background && a->mail_when == b->mail_when);
  g_assert_cmpstr(a->mail_to, ==, b->mail_to);
  g_assert_true(a->output_keep_ms == b->output_keep_ms && a->output_cap_bytes == b->output_cap_bytes);
}

static void check_trigger(const PawlTriggerSpec *a, const PawlTriggerSpec *b) {
  gint64 x_ms = TEST_NOW_MS, y_ms = TEST_NOW_MS;
  g_assert_cmpstr(a->expression, ==, b->expression);
  g_assert_cmpstr(a->zone, ==, b->zone);
  g_assert_cmpstr(a->input, ==, b->input);
  g_assert_true(a->seconds == b->seconds && a->overlap == b->overlap && a->overlap_queue == b->overlap_queue && a->enabled == b->enabled);
  g_assert_cmpint(a->task_revision, ==, b->task_revision);
  g_assert_cmpmem(&a->misfire, sizeof a->misfire, &b->misfire, sizeof b->misfire);
  g_assert_true(a->timing.kind == b->timing.kind && a->timing.every_ms == b->timing.every_ms && a->timing.offset_ms == b->timing.offset_ms);
  g_assert_true(a->timing.at_ms == b->timing.at_ms && a->timing.from_ms == b->timing.from_ms && a->timing.until_ms == b->timing.until_ms);
  g_assert_cmpint(a->timing.jitter_ms, ==, b->timing.jitter_ms);
  for (int i = 0; i < 5; i++) { /* H too: it is spread by the full name */
    gboolean has = pawl_timing_next(&a->timing, x_ms, &x_ms);
    g_assert_cmpint(has, ==, pawl_timing_next(&b->timing, y_ms, &y_ms));
    g_assert_cmpint(x_ms, ==, y_ms);
  }
}

static void test_round_trip(void) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) bundle = bundle_of(full, issues);
  g_assert_nonnull(bundle);
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    g_autoptr(GError) error = NULL;
    g_autoptr(PawlTaskSpec) spec = pawl_task_spec_from_stored(task->json, &error);
    g_assert_no_error(error);
    check_task(task->spec, spec);
    g_autoptr(json_t) json = pawl_task_spec_to_json(spec);
    g_autofree char *text = pawl_json_canonical(json), *digest = pawl_digest(text, -1);
    g_assert_cmpstr(text, ==, task->json);
    g_assert_cmpstr(digest, ==, task->digest);
    for (guint j = 0; j < task->triggers->len; j++) {
      const PawlTriggerDef *trigger = g_ptr_array_index(task->triggers, j);
      g_autoptr(PawlTriggerSpec) again = pawl_trigger_spec_from_stored(trigger->json, "default", task->name, trigger->name, &error);
      g_assert_no_error(error);
      check_trigger(trigger->spec, again);
      g_autoptr(json_t) trigger_json = pawl_trigger_spec_to_json(again);
      g_autofree char *trigger_text = pawl_json_canonical(trigger_json);
      g_assert_cmpstr(trigger_text, ==, trigger->json);
    }
  }
}

static const PawlTaskDef *first_task(const PawlBundle *bundle) { return g_ptr_array_index(bundle->tasks, 0); }
static const PawlTriggerDef *first_trigger(const PawlBundle *bundle) { return g_ptr_array_index(first_task(bundle)->triggers, 0); }

/* Two ways to say the same have one digest, and what differs has two. */
static void test_digest(void) {
  static const struct {
    const char *a, *b;
    gboolean equal;
  } cases[] = {
    {"{shell: x, env: {A: '1', B: '2'}}", "{env: {B: '2', A: '1'}, shell: {program: /bin/sh, command: x}}", TRUE},
    {"{shell: x, timeout: 90s}", "{shell: x, timeout: 1m30s}", TRUE},
    {"{shell: x, timeout: 90}", "{shell: x, timeout: '90'}", TRUE},
    {"{shell: x}", "{shell: x, timeout: none, pool: default, retry: {attempts: 1}, umask: null}", TRUE},
    {"{shell: x, output: 256KiB}", "{shell: x, output: 262144}", TRUE},
    {"{shell: x}", "{shell: x , slots: 2}", FALSE},
    {"{exec: [x]}", "{shell: x}", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *a = g_strdup_printf("tasks: {t: %s}", cases[i].a), *b = g_strdup_printf("tasks: {t: %s}", cases[i].b);
    g_autoptr(GPtrArray) issues = issues_new();
    g_autoptr(PawlBundle) x = bundle_of(a, issues), y = bundle_of(b, issues);
    g_assert_cmpint(strcmp(first_task(x)->digest, first_task(y)->digest) == 0, ==, cases[i].equal);
  }
}

/* Defaults of the file that do not concern a trigger do not change it. */
static void test_zone_of_every(void) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) a = bundle_of("tasks: {t: {noop: {}, triggers: {e: {every: 1m}}}}", issues);
  g_autoptr(PawlBundle) b = bundle_of("defaults: {zone: Asia/Tokyo}\ntasks: {t: {noop: {}, triggers: {e: {every: 1m}}}}", issues);
  g_assert_cmpstr(first_trigger(a)->digest, ==, first_trigger(b)->digest);
}

static void test_damaged(void) {
  static const struct {
    const char *json, *words;
    gboolean trigger;
  } cases[] = {
    {"{\"noop\":{},\"sparkle\":1}", "sparkle", FALSE},
    {"{\"every\":\"1m\",\"sparkle\":1}", "sparkle", TRUE},
    {"{\"noop\":{},\"retry\":{\"jitter\":1}}", "retry.jitter", FALSE},
    {"{\"noop\":{},\"triggers\":{}}", "triggers", FALSE}, /* only a file has that */
    {"", "damaged", FALSE},
    {"[]", "damaged", FALSE},
    {"{\"noop\":{},\"noop\":{}}", "duplicate", FALSE},
    {"{}", "what to run", FALSE},
    {"{}", "when to run", TRUE},
    {"{\"cron\":\"61 * * * *\"}", "column", TRUE},
    {"{\"cron\":\"0 0 * * *\",\"zone\":\"Nowhere/Land\"}", "zone", TRUE},
    {"{\"noop\":{},\"slots\":0}", "slots", FALSE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    if (cases[i].trigger)
      g_assert_null(pawl_trigger_spec_from_stored(cases[i].json, "p", "t", "x", &error));
    else
      g_assert_null(pawl_task_spec_from_stored(cases[i].json, &error));
    g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[i].words));
  }
}

/* What an older version stored lacks keys; they have their defaults. */
static void test_older(void) {
  g_autoptr(PawlTaskSpec) task = pawl_task_spec_from_stored("{\"shell\":{\"command\":\"x\",\"program\":\"/bin/sh\"}}", NULL);
  g_assert_cmpint(task->slots, ==, 1);
  g_autoptr(PawlTriggerSpec) trigger = pawl_trigger_spec_from_stored("{\"cron\":\"0 0 * * *\",\"zone\":\"UTC\"}", "p", "t", "x", NULL);
  g_assert_true(trigger->enabled);
}

/* The value at "retry.attempts" of the normal form, as the table prints it. */
static char *value_text(const json_t *json, const char *path) {
  g_auto(GStrv) parts = g_strsplit(path, ".", -1);
  for (char **part = parts; *part != NULL; part++) json = json_object_get(json, *part);
  if (json == NULL) return g_strdup("?");
  if (json_is_string(json)) return g_strdup(json_string_value(json));
  if (json_is_null(json)) return g_strdup("none");
  g_autofree char *text = pawl_json_canonical(json);
  if (!json_is_array(json)) return g_steal_pointer(&text);
  GString *list = g_string_new(text);
  g_string_replace(list, "\"", "", 0);
  g_string_replace(list, ",", ", ", 0);
  return g_string_free(list, FALSE);
}

static void test_defaults_table(void) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) bundle = bundle_of("tasks: {t: {shell: x, triggers: {c: {cron: '0 0 * * *'}, e: {every: 1m}}}}", issues);
  g_autoptr(json_t) task = pawl_task_spec_to_json(first_task(bundle)->spec);
  g_autoptr(json_t) cron = pawl_trigger_spec_to_json(first_trigger(bundle)->spec);
  g_autoptr(json_t) every = pawl_trigger_spec_to_json(((PawlTriggerDef *)g_ptr_array_index(first_task(bundle)->triggers, 1))->spec);
  gsize n;
  const PawlDefault *rows = pawl_defaults(&n);
  for (gsize i = 0; i < n; i++) {
    g_autofree char *path = g_strdup(rows[i].key), *value = NULL;
    if (g_str_has_prefix(path, "crontab.")) continue;
    if (strcmp(path, "shell") == 0 || strcmp(path, "mail") == 0) {
      g_free(path);
      path = g_strdup(strcmp(rows[i].key, "shell") == 0 ? "shell.program" : "mail.when");
    }
    g_autofree char *head = g_strndup(path, strcspn(path, "."));
    value = value_text(json_object_get(task, head) ? task : json_object_get(cron, head) ? cron : every, path);
    g_test_message("%s", path);
    if (strcmp(path, "output") == 0)
      g_assert_cmpstr(value, ==, "262144");
    else
      g_assert_cmpstr(value, ==, rows[i].value);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/domain/stored/round-trip", test_round_trip);
  g_test_add_func("/domain/stored/digest", test_digest);
  g_test_add_func("/domain/stored/zone-of-every", test_zone_of_every);
  g_test_add_func("/domain/stored/damaged", test_damaged);
  g_test_add_func("/domain/stored/older", test_older);
  g_test_add_func("/domain/stored/defaults-table", test_defaults_table);
  return g_test_run();
}
