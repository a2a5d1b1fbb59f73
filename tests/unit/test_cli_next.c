/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs print, to the byte: those that need no store, and a few on one of their own. */
#include "test_cli.h"

#include "base/error.h"

#include <glib/gstdio.h>
#include <string.h>

static char *nothing[] = {NULL};

/* Runs a line; what it printed and what it complained about are returned for the caller to free. */
static int run_line(const char *line, char **ret_text, char **ret_errors) {
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlCall) call = test_parse(line, nothing, &error);
  g_assert_no_error(error);
  g_autoptr(PawlOut) out = test_out(call->json);
  call->out = out;
  int code = call->verb->run(call, &error);
  if (error != NULL) code = pawl_out_error(out, call->verb->name, error);
  *ret_text = g_strdup(pawl_out_gathered(out));
  *ret_errors = g_strdup(pawl_out_gathered_errors(out));
  return code;
}

static void check(const char *line, int code, const char *text, const char *errors) {
  g_autofree char *found = NULL, *complaints = NULL;
  g_assert_cmpint(run_line(line, &found, &complaints), ==, code);
  g_assert_cmpstr(found, ==, text);
  g_assert_cmpstr(complaints, ==, errors);
}

static void test_json(void) {
  check("next '30 2 * * *' --zone Europe/Berlin --after 2026-03-28T00:00:00Z -n 2 --json", 0,
    "{\"expression\":\"30 2 * * *\",\"zone\":\"Europe/Berlin\",\"next\":[\"2026-03-28T01:30:00Z\",\"2026-03-29T01:00:00Z\"],\"complete\":false}\n",
    "");
  check("next '0 0 30 2 *' --json", 0, "{\"expression\":\"0 0 30 2 *\",\"zone\":\"UTC\",\"next\":[],\"complete\":true}\n", "");
  check("next @reboot --json", 0, "{\"expression\":\"@reboot\",\"zone\":\"UTC\",\"next\":[],\"complete\":true}\n", "");
  check("next 'CRON_TZ=Asia/Tokyo 0 9 * * *' --after 2026-01-01T00:00:00Z -n 1 --json", 0,
    "{\"expression\":\"CRON_TZ=Asia/Tokyo 0 9 * * *\",\"zone\":\"Asia/Tokyo\",\"next\":[\"2026-01-02T00:00:00Z\"],\"complete\":false}\n",
    "");
}

/* All instants were asked for, and there are no more: that is known too. */
static void test_complete(void) {
  check("next '0 0 0 1 1 ? 2031-2032' --seconds --after 2026-01-01T00:00:00Z -n 2 --json", 0,
    "{\"expression\":\"0 0 0 1 1 ? 2031-2032\",\"zone\":\"UTC\",\"next\":[\"2031-01-01T00:00:00Z\",\"2032-01-01T00:00:00Z\"],\"complete\":true}\n",
    "");
  check("next '0 0 0 1 1 ? 2031-2032' --seconds --after 2026-01-01T00:00:00Z -n 1 --json", 0,
    "{\"expression\":\"0 0 0 1 1 ? 2031-2032\",\"zone\":\"UTC\",\"next\":[\"2031-01-01T00:00:00Z\"],\"complete\":false}\n", "");
}

static void test_text(void) {
  g_autofree char *text = NULL, *errors = NULL;
  g_assert_cmpint(run_line("next '30 2 * * *' --zone Europe/Berlin --after 2026-03-28T00:00:00Z -n 2", &text, &errors), ==, 0);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4);
  g_assert_true(g_str_has_prefix(lines[0], "IN ITS ZONE                     UTC"));
  g_assert_true(g_str_has_prefix(lines[1], "Sat 2026-03-28 02:30:00 +01:00  2026-03-28T01:30:00Z  "));
  g_assert_true(g_str_has_prefix(lines[2], "Sun 2026-03-29 03:00:00 +02:00  2026-03-29T01:00:00Z  "));
  g_assert_true(g_str_has_suffix(lines[2], "  the clock has changed"));
  check("next '0 0 30 2 *'", 0, "it never fires\n", "");
}

/* Exit code 2, nothing printed, one line that names the column. */
static void test_refused(void) {
  static const struct {
    const char *line, *word;
  } rows[] = {
    {"next '0 99 * * *'", "pawl next: column 3: "},
    {"next ''", "pawl next: column 1: "},
    {"next 5", "pawl next: column "},
    {"next '0 0 2 * * *'", "--seconds"},
    {"next '* * * * *' --zone Mars/Olympus", "'Mars/Olympus'"},
    {"next '* * * * *' --after yesterday", "--after: "},
    {"next 0 12", "in quotes"},
    {"next", "-f"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = NULL, *errors = NULL;
    g_assert_cmpint(run_line(rows[i].line, &text, &errors), ==, PAWL_EXIT_USAGE);
    g_assert_cmpstr(text, ==, "");
    g_assert_nonnull(strstr(errors, rows[i].word));
    g_assert_true(strchr(errors, '\n') == errors + strlen(errors) - 1);
  }
}

static void test_refused_json(void) {
  g_autofree char *text = NULL, *errors = NULL;
  g_assert_cmpint(run_line("next '0 99 * * *' --json", &text, &errors), ==, PAWL_EXIT_USAGE);
  g_autoptr(json_t) object = pawl_json_parse(errors, strlen(errors), NULL);
  const char *code = NULL, *message = NULL;
  g_assert_cmpint(json_unpack(object, "{s:{s:s, s:s}}", "error", "code", &code, "message", &message), ==, 0);
  g_assert_cmpstr(code, ==, "invalid");
  g_assert_true(g_str_has_prefix(message, "column 3: "));
}

static void test_validate(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *path = NULL, *good = NULL, *bad = NULL, *text = NULL, *errors = NULL;
  int fd = g_file_open_tmp("pawl-cli-XXXXXX.yaml", &path, &error);
  g_assert_cmpint(fd, >=, 0);
  g_close(fd, NULL);
  good = g_strdup_printf("validate --json -f %s", path);
  bad = g_strdup_printf("validate -f %s", path);
  g_assert_true(g_file_set_contents(path, "tasks: {a: {noop: {}, triggers: {t: {every: 1s}}}}", -1, NULL));
  check(good, 0, "{\"valid\":true,\"tasks\":1,\"triggers\":1,\"issues\":[]}\n", "");
  g_assert_true(g_file_set_contents(path, "tasks:\n  a:\n    noop: {}\n    timeot: 5s\n", -1, NULL));
  g_assert_cmpint(run_line(bad, &text, &errors), ==, PAWL_EXIT_CONFIG);
  g_assert_cmpstr(text, ==, "not valid: 1 error\n");
  g_assert_nonnull(strstr(errors, ":4:5: error: "));
  g_assert_nonnull(strstr(errors, "did you mean 'timeout'?"));
  g_unlink(path);
}

static void test_version(void) {
  g_autofree char *text = NULL, *errors = NULL;
  g_assert_cmpint(run_line("version", &text, &errors), ==, 0);
  g_assert_true(g_str_has_prefix(text, "pawl 0."));
}

/* Runs "VERB --store FOLDER/pawl.db REST", and says whether the text and the complaints hold what they should. */
static void check_stored(const char *folder, const char *verb, const char *rest, int code, const char *text, const char *errors) {
  g_autofree char *line = g_strdup_printf("%s --store %s/pawl.db %s", verb, folder, rest), *found = NULL, *complaints = NULL;
  g_assert_cmpint(run_line(line, &found, &complaints), ==, code);
  if (strstr(found, text) == NULL || strstr(complaints, errors) == NULL) g_error("%s: %s%s", line, found, complaints);
}

/* The first "next_at" or the first instant of "next" in a text. Free it. */
static char *first_instant(const char *folder, const char *line, const char *before) {
  g_autofree char *whole = g_strdup_printf("%s --store %s/pawl.db --json", line, folder), *text = NULL, *errors = NULL;
  g_assert_cmpint(run_line(whole, &text, &errors), ==, 0);
  const char *at = strstr(text, before);
  g_assert_nonnull(at);
  return g_strndup(at + strlen(before), strlen("2026-01-01T00:00:00"));
}

static void test_stored(void) {
  g_autofree char *folder = g_dir_make_tmp("pawl-cli-XXXXXX", NULL), *file = g_build_filename(folder, "f.yaml", NULL);
  g_autofree char *from = g_strdup_printf("-f %s", file);
  g_assert_true(g_file_set_contents(file, "tasks: {a: {noop: {}, triggers: {e: {cron: '@every 7m'}, b: {cron: '@reboot'}}}}", -1, NULL));
  check_stored(folder, "list", "", PAWL_EXIT_UNAVAILABLE, "", "`pawl apply -f FILE` makes one");
  check_stored(folder, "diff", from, PAWL_EXIT_UNAVAILABLE, "", "there is no store");
  check_stored(folder, "status", "", PAWL_EXIT_UNAVAILABLE, "there is none yet", "");
  check_stored(folder, "apply", from, 0, "3 added", "");
  g_autofree char *next = first_instant(folder, "next a/e", "\"next\":[\""),
                  *shown = first_instant(folder, "explain a/e", "\"next_at\":\"");
  g_assert_cmpstr(next, ==, shown);
  check_stored(folder, "explain", "a/b", 0, "Once per boot", "");
  check_stored(folder, "resume", "a", 0, "", "a was not paused");
  check_stored(folder, "pause", "a/e", 0, "", "paused");
  check_stored(folder, "pause", "a", 0, "", "paused");
  check_stored(folder, "resume", "a", 0, "", "trigger e was paused by itself and stays so");
  check_stored(folder, "retry", "zz", PAWL_EXIT_FAILED, "", "there is no run 'zz'");
  check_stored(folder, "cancel", "--json a zz", PAWL_EXIT_FAILED, "},{\"reference\":\"zz\",\"cancelled\":0,\"error\":{", "");
  check_stored(folder, "show", "a", 0, "\ntasks:\n  a:\n", "");
  check_stored(folder, "delete", "a", 0, "", "it comes back with the next apply of that file");
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir)) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
}

int main(int argc, char **argv) {
  g_setenv("TZ", "UTC", TRUE);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cli/next/json", test_json);
  g_test_add_func("/cli/next/complete", test_complete);
  g_test_add_func("/cli/next/text", test_text);
  g_test_add_func("/cli/next/refused", test_refused);
  g_test_add_func("/cli/next/refused-json", test_refused_json);
  g_test_add_func("/cli/validate", test_validate);
  g_test_add_func("/cli/stored", test_stored);
  g_test_add_func("/cli/version", test_version);
  return g_test_run();
}
