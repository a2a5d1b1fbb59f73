/* SPDX-License-Identifier: Apache-2.0 */
/* Each limit one below, at it, and one above; diagnostics; names and suggestions. */
#include "domain/issue.h"
#include "test_domain.h"

static gboolean accepts(const char *text) {
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) bundle = bundle_of(text, issues);
  g_assert_cmpint(bundle == NULL, ==, count_errors(issues) > 0);
  return bundle != NULL;
}

/* `format` has one %s, which gets what makes a text of so many bytes; that is accepted up to `limit`. */
static void check_length(const char *format, gsize limit) {
  for (gsize bytes = limit - 1; bytes <= limit + 1; bytes++) {
    g_autofree char *filling = g_strnfill(bytes, 'x');
    g_auto(GStrv) parts = g_strsplit(format, "%s", 2);
    g_autofree char *text = g_strconcat(parts[0], filling, parts[1], NULL);
    g_test_message("%s: %d", format, (int)bytes);
    g_assert_cmpint(accepts(text), ==, bytes <= limit);
  }
}

static void test_lengths(void) {
  check_length("tasks: {%s: {noop: {}}}", PAWL_NAME_MAX);
  check_length("tasks: {a: {noop: {}, triggers: {%s: {every: 1m}}}}", PAWL_NAME_MAX);
  check_length("pools: {%s: {slots: 1}}", PAWL_NAME_MAX);
  check_length("project: %s", PAWL_NAME_MAX);
  check_length("tasks: {a: {exec: [x, y, %s]}}", PAWL_ARGV_MAX_BYTES - 5); /* each argument has its NUL */
  check_length("tasks: {a: {shell: %s}}", PAWL_ARGV_MAX_BYTES);
  check_length("tasks: {a: {noop: {}, env: {A: %s}}}", PAWL_ARGV_MAX_BYTES - 3);
  check_length("tasks: {a: {noop: {}, input: %s}}", 1024 * 1024);
  check_length("tasks: {a: {noop: {}, description: %s}}", 4096);
  check_length("tasks: {a: {noop: {}, cwd: /%s}}", 4094);
  check_length("tasks: {a: {noop: {}, user: %s}}", 64);
}

static void check_number(const char *format, gint64 low, gint64 high) {
  const gint64 numbers[] = {low - 1, low, low + 1, high - 1, high, high + 1};
  for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, numbers[i]);
    g_auto(GStrv) parts = g_strsplit(format, "%d", 2);
    g_autofree char *text = g_strconcat(parts[0], number, parts[1], NULL);
    g_test_message("%s", text);
    g_assert_cmpint(accepts(text), ==, numbers[i] >= low && numbers[i] <= high);
  }
}

static void test_numbers(void) {
  check_number("tasks: {a: {noop: {}, priority: %d}}", PAWL_PRIORITY_MIN, PAWL_PRIORITY_MAX);
  check_number("tasks: {a: {noop: {}, slots: %d}}", 1, 1000000);
  check_number("tasks: {a: {noop: {}, max_active: %d}}", 1, 1000000);
  check_number("tasks: {a: {noop: {}, retry: {attempts: %d}}}", 1, 1000);
  check_number("tasks: {a: {noop: {}, output: %d}}", 0, 64 * 1024 * 1024);
  check_number("pools: {a: {slots: %d}}", 0, 1000000);
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: 1m, overlap: {queue: %d}}}}}", 1, 10000);
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: 1m, misfire_limit: %d}}}}", 1, 1000000);
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: 1m, task_revision: %d}}}}", 1, G_MAXINT);
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: %d}}}}", 1, 3650 * 86400);
  check_number("tasks: {a: {noop: {}, timeout: %d}}", 1, 3650 * 86400);
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: 60, jitter: %d}}}}", 0, 59); /* below the gap */
  check_number("tasks: {a: {noop: {}, triggers: {t: {every: 60, offset: %d}}}}", 0, 59);
}

static void test_many_tasks(void) {
  for (guint n = PAWL_BUNDLE_MAX_TASKS - 1; n <= PAWL_BUNDLE_MAX_TASKS + 1; n++) {
    g_autoptr(GString) text = g_string_new("tasks:\n");
    for (guint i = 0; i < n; i++) g_string_append_printf(text, "  t%u: {noop: {}, triggers: {a: {every: 1m}}}\n", i);
    g_assert_cmpint(accepts(text->str), ==, n <= PAWL_BUNDLE_MAX_TASKS);
  }
}

static void test_at_most_100_issues(void) {
  for (guint n = PAWL_ISSUES_MAX - 1; n <= PAWL_ISSUES_MAX + 1; n++) {
    g_autoptr(GString) text = g_string_new("tasks:\n");
    g_autoptr(GPtrArray) issues = issues_new();
    for (guint i = 0; i < n; i++) g_string_append_printf(text, "  t%u: {noop: 5}\n", i);
    g_assert_null(bundle_of(text->str, issues));
    g_assert_cmpint(issues->len, ==, MIN(n, PAWL_ISSUES_MAX));
  }
}

/* An error is never crowded out by warnings. */
static void test_errors_before_warnings(void) {
  g_autoptr(GString) text = g_string_new("tasks:\n");
  g_autoptr(GPtrArray) issues = issues_new();
  for (guint i = 0; i < 2 * PAWL_ISSUES_MAX; i++) g_string_append_printf(text, "  t%u: {shell: x, triggers: {a: {every: 1m}}}\n", i);
  g_string_append(text, "  last: {noop: 5}\n");
  g_assert_null(bundle_of(text->str, issues));
  g_assert_cmpint(issues->len, ==, PAWL_ISSUES_MAX);
  g_assert_cmpint(count_errors(issues), ==, 1);
}

static void test_issue_text(void) {
  static const struct {
    PawlIssue issue;
    const char *text;
  } cases[] = {
    {{FALSE, (char *)"pawl.yaml", 12, 5, (char *)"tasks.backup.timeot", (char *)"unknown key", (char *)"did you mean 'timeout'?"},
      "pawl.yaml:12:5: error: tasks.backup.timeot: unknown key; did you mean 'timeout'?"},
    {{TRUE, (char *)"f", 3, 0, (char *)"", (char *)"m", NULL}, "f:3: warning: m"},
    {{FALSE, (char *)"f", 0, 0, (char *)"", (char *)"m", NULL}, "f: m"},
    {{FALSE, (char *)"", 0, 0, (char *)"a.b", (char *)"m", NULL}, "a.b: m"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = pawl_issue_text(&cases[i].issue);
    g_assert_cmpstr(text, ==, cases[i].text);
  }
}

static void test_nearest(void) {
  static const char *const words[] = {"timeout", "triggers", "retry", "user", "to", NULL};
  static const struct {
    const char *word, *nearest;
  } cases[] = {
    {"timeot", "timeout"},
    {"tiemout", "timeout"},
    {"TIMEOUT", "timeout"},
    {"trigger", "triggers"},
    {"retries", NULL},
    {"usr", "user"},
    {"ot", "to"},
    {"xyzzy", NULL},
    {"", NULL},
    {"a-word-that-is-much-longer-than-any-key-there-is", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) g_assert_cmpstr(pawl_nearest_word(cases[i].word, words), ==, cases[i].nearest);
}

static void test_names(void) {
  static const char *const good[] = {"a", "A", "0", "a-b_c.d", "9-", NULL}, *const bad[] = {
                                                                              "", "-a", ".a", "_a", "a b", "a/b", "\xc3\xa4", "a\n", NULL};
  for (gsize i = 0; good[i] != NULL; i++) g_assert_true(pawl_name_valid(good[i]));
  for (gsize i = 0; bad[i] != NULL; i++) g_assert_false(pawl_name_valid(bad[i]));
}

/* No message shows what could be a secret. */
static void test_no_secrets(void) {
  static const char *const files[] = {
    "tasks: {a: {noop: {}, env: {T: {value: hunter2}}}}",
    "tasks: {a: {noop: {}, env: {T: [hunter2]}}}",
    "tasks: {a: {noop: {}, env: {T: @hunter2}}}",
    "tasks:\n  a:\n    env:\n      T: *hunter2!x\n",
    "tasks: {a: {noop: {}, input: hunter2, env: {T: 'hunter2\\0'}, slots: 0}}",
    "tasks: {a: {exec: hunter2}}",
    "tasks: {a: {noop: {}, env: {T: *hunter2}}}",
    "tasks: {a: {noop: {}, env: {T: a,hunter2 b}}}",
    "tasks: {a: {noop: {}, env: {T: hunter2,x b}}}",
    "tasks: {a: {noop: {}, env: {T: !hunter2 b}}}",
    "tasks: {a: {noop: {}, env: {T: \"hunter2\\0\"}}}",
  };
  for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
    g_autoptr(GPtrArray) issues = issues_new();
    g_assert_null(bundle_of(files[i], issues));
    g_autofree char *text = issues_text(issues);
    g_test_message("%s", text);
    g_assert_null(strstr(text, "hunter2"));
  }
}

static void test_from_json(void) {
  g_autoptr(json_t) good = json_pack("{s{s{s[s]}}}", "tasks", "a", "exec", "x"), bad = json_pack("{s{s{s[i]}}}", "tasks", "a", "exec", 5);
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) bundle = pawl_bundle_from_json(good, issues);
  g_assert_nonnull(bundle);
  g_assert_cmpint(issues->len, ==, 0);
  g_assert_null(pawl_bundle_from_json(bad, issues));
  g_autofree char *text = issues_text(issues);
  g_assert_cmpstr(text, ==, "tasks.a.exec[0]: expected a text, found a number; put it in quotes\n");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/domain/limits/lengths", test_lengths);
  g_test_add_func("/domain/limits/numbers", test_numbers);
  g_test_add_func("/domain/limits/tasks", test_many_tasks);
  g_test_add_func("/domain/limits/issues", test_at_most_100_issues);
  g_test_add_func("/domain/limits/errors-first", test_errors_before_warnings);
  g_test_add_func("/domain/issues/text", test_issue_text);
  g_test_add_func("/domain/issues/nearest", test_nearest);
  g_test_add_func("/domain/issues/no-secrets", test_no_secrets);
  g_test_add_func("/domain/names", test_names);
  g_test_add_func("/domain/from-json", test_from_json);
  return g_test_run();
}
