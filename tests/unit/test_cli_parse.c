/* SPDX-License-Identifier: Apache-2.0 */
/* From argv to a call, and the options of `up`. */
#include "test_cli.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

static char *nothing[] = {NULL};

typedef struct {
  const char *line, *message;
} Refusal;

static void test_refused(void) {
  static const Refusal rows[] = {
    {"runs --stat failed", "unknown option --stat; did you mean --state?"},
    {"runs --zzzzzzz", "unknown option --zzzzzzz; see `pawl runs --help`"},
    {"runs --slots 4", "unknown option --slots; see `pawl runs --help`"},
    {"runs extra", "'extra' is one argument too many; write `pawl runs`"},
    {"validate -f a -f b", "-f: it is given twice, and takes one file; see `pawl validate --help`"},
    {"runs --limit 0", "--limit: '0' is no number from 1 to 10000000; see `pawl runs --help`"},
    {"runs -n x", "-n: 'x' is no number from 1 to 10000000; see `pawl runs --help`"},
    {"run", "an argument is missing; write `pawl run TASK`"},
    {"run a --priority 1001", "--priority: '1001' is no number from -1000 to 1000; see `pawl run --help`"},
    {"run a --priority 2147483648", "--priority: '2147483648' is no number from -1000 to 1000; see `pawl run --help`"},
    {"next '* * * * *' -n 10001", "-n: '10001' is no number from 1 to 10000; see `pawl next --help`"},
    {"runs --task", "missing argument for --task; see `pawl runs --help`"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(test_parse(rows[i].line, nothing, &error));
    g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
    g_assert_cmpstr(error->message, ==, rows[i].message);
  }
}

static void test_accepted(void) {
  static const char *const lines[] = {"runs -n5", "runs -n 5", "runs --limit=5", "runs --limit 5 --limit 5", "runs --json --limit 5 -q",
    "jobs", "next '* * * * *' -n 10000", "next '* * * * *' -n 1", "run a --priority -1000", "run a --priority 1000", "cancel a b c d",
    "run --help", "run -h", "pools resize io -- -1", "pools resize io -1", "--help"};
  for (gsize i = 0; i + 1 < G_N_ELEMENTS(lines); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(PawlCall) call = test_parse(lines[i], nothing, &error);
    g_assert_no_error(error);
    g_assert_nonnull(call);
  }
}

static void test_arguments(void) {
  g_autoptr(PawlCall) call = test_parse("cancel one --reason 'why not' two -- --three", nothing, NULL);
  g_assert_cmpuint(call->n_args, ==, 3);
  g_assert_cmpstr(call->args[0], ==, "one");
  g_assert_cmpstr(call->args[1], ==, "two");
  g_assert_cmpstr(call->args[2], ==, "--three");
  g_autoptr(PawlCall) number = test_parse("pools resize io -1", nothing, NULL);
  g_assert_cmpstr(number->args[2], ==, "-1");
}

/* An argument that is no UTF-8 is refused where it is a name, and taken where it is a file. */
static void test_bytes(void) {
  g_autoptr(GError) error = NULL;
  g_assert_null(test_parse("runs --task '\xff'", nothing, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
  g_assert_null(test_parse("show '\xff'", nothing, NULL));
  g_autoptr(PawlCall) call = test_parse("import crontab '/tmp/\xff'", nothing, NULL);
  g_assert_cmpstr(call->args[1], ==, "/tmp/\xff");
}

static void split(const char *line, const char *verb, guint n_rest) {
  g_auto(GStrv) words = NULL;
  g_autoptr(GPtrArray) rest = NULL;
  const char *found;
  gint n;
  g_assert_true(g_shell_parse_argv(line, &n, &words, NULL));
  pawl_split_verb(n, words, &found, &rest);
  g_assert_cmpstr(found, ==, verb);
  g_assert_cmpuint(rest->len, ==, n_rest);
}

static void test_split(void) {
  split("pawl", NULL, 0);
  split("pawl --help", NULL, 1);
  split("pawl status", "status", 0);
  split("pawl --json status", "status", 1);
  split("pawl --store status.db status --json", "status", 3);
  split("pawl --store=status.db runs runs", "runs", 2);
}

static gboolean read_up(const char *line, char **environment, PawlUpOptions *up, PawlCall **ret_call, GError **error) {
  *ret_call = test_parse(line, environment, error);
  g_assert_nonnull(*ret_call);
  return pawl_up_options_read(*ret_call, up, error);
}

static void test_up(void) {
  char *environment[] = {"PAWL_SLOTS=8", "PAWL_NAME=node", NULL};
  PawlCall *call = NULL;
  PawlUpOptions up = {0};
  g_autoptr(GError) error = NULL;
  g_assert_true(
    read_up("up -f a.yaml --crontab one --crontab two --store /x/y.db --drain 0 --lease 10m --log json", environment, &up, &call, &error));
  g_assert_no_error(error);
  g_assert_cmpstr(up.url, ==, "sqlite:/x/y.db");
  g_assert_cmpstr(up.url_source, ==, "--store");
  g_assert_cmpstr(up.file, ==, "a.yaml");
  g_assert_cmpuint(g_strv_length(up.crontabs), ==, 2);
  g_assert_cmpint(up.slots, ==, 8);
  g_assert_cmpint(up.drain_ms, ==, 0);
  g_assert_cmpint(up.lease_ms, ==, 10 * PAWL_MINUTE_MS);
  g_assert_cmpint(up.history_ms, ==, 30 * PAWL_DAY_MS);
  g_assert_true(up.log_json);
  g_assert_cmpstr(up.log_level, ==, "info");
  g_assert_cmpstr(up.name, ==, "node");
  g_assert_null(up.allow_users);
  g_free(up.url);
  pawl_call_free(call);
}

static void test_up_refused(void) {
  static const struct {
    const char *line;
    PawlError code;
    const char *word;
  } rows[] = {
    {"up --slots -1", PAWL_ERROR_INVALID, "--slots"},
    {"up --slots 100001", PAWL_ERROR_INVALID, "--slots"},
    {"up --lease 2999ms", PAWL_ERROR_INVALID, "--lease"},
    {"up --lease 601s", PAWL_ERROR_INVALID, "--lease"},
    {"up --drain soon", PAWL_ERROR_INVALID, "--drain"},
    {"up --log xml", PAWL_ERROR_INVALID, "--log"},
    {"up --log-level loud", PAWL_ERROR_INVALID, "--log-level"},
    {"up --zone Mars/Olympus", PAWL_ERROR_INVALID, "--zone"},
    {"up --store a --database sqlite:b", PAWL_ERROR_INVALID, "--store"},
    {"up -f x.yaml --database postgresql://h/d", PAWL_ERROR_CONFIG, "pawl apply"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    PawlCall *call = NULL;
    PawlUpOptions up;
    g_autoptr(GError) error = NULL;
    g_assert_false(read_up(rows[i].line, nothing, &up, &call, &error));
    g_assert_error(error, PAWL_ERROR, (gint)rows[i].code);
    g_assert_nonnull(strstr(error->message, rows[i].word));
    pawl_call_free(call);
  }
}

static void test_when(void) {
  const gint64 now_ms = 1000 * PAWL_DAY_MS;
  gint64 at_ms;
  g_assert_true(pawl_when_parse("2h", -1, now_ms, &at_ms, NULL));
  g_assert_cmpint(at_ms, ==, now_ms - 2 * PAWL_HOUR_MS);
  g_assert_true(pawl_when_parse("2h", 1, now_ms, &at_ms, NULL));
  g_assert_cmpint(at_ms, ==, now_ms + 2 * PAWL_HOUR_MS);
  g_assert_true(pawl_when_parse("1970-01-02T00:00:00Z", 1, now_ms, &at_ms, NULL));
  g_assert_cmpint(at_ms, ==, PAWL_DAY_MS);
  g_assert_false(pawl_when_parse("3000d", -1, now_ms, &at_ms, NULL));
  g_assert_false(pawl_when_parse("yesterday", -1, now_ms, &at_ms, NULL));
}

static void test_references(void) {
  g_autofree char *task = NULL, *trigger = NULL, *alone = NULL, *none = NULL;
  g_assert_true(pawl_reference_split("a/b.c", &task, &trigger, NULL));
  g_assert_cmpstr(task, ==, "a");
  g_assert_cmpstr(trigger, ==, "b.c");
  g_assert_true(pawl_reference_split("a", &alone, &none, NULL));
  g_assert_null(none);
  static const char *const bad[] = {"", "/", "a/", "/b", "a/b/c", "a b", "*/5"};
  for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) g_assert_false(pawl_reference_split(bad[i], &task, &trigger, NULL));
  g_assert_true(pawl_looks_like_run("9f3c2a1b"));
  g_assert_true(pawl_looks_like_run("0198A0B0-0000-7000-8000-00009F3C2A1B"));
  g_assert_false(pawl_looks_like_run("9f3c2a1"));
  g_assert_false(pawl_looks_like_run("backups1"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cli/parse/refused", test_refused);
  g_test_add_func("/cli/parse/accepted", test_accepted);
  g_test_add_func("/cli/parse/arguments", test_arguments);
  g_test_add_func("/cli/parse/bytes", test_bytes);
  g_test_add_func("/cli/parse/split", test_split);
  g_test_add_func("/cli/parse/up", test_up);
  g_test_add_func("/cli/parse/up-refused", test_up_refused);
  g_test_add_func("/cli/parse/when", test_when);
  g_test_add_func("/cli/parse/references", test_references);
  return g_test_run();
}
