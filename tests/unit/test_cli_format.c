/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, cards, words and what becomes of standard output when it fails. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/format.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static const PawlColumn columns[] = {{"TASK", FALSE, TRUE}, {"N", TRUE, FALSE}, {"REASON", FALSE, TRUE}};

static PawlTable *sample(void) {
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  pawl_table_cell(table, PAWL_COLOUR_NONE, "backup");
  pawl_table_cell(table, PAWL_COLOUR_NONE, "1");
  pawl_table_cell(table, PAWL_COLOUR_BAD, "exit code 3");
  pawl_table_cell(table, PAWL_COLOUR_NONE, "größe-日本");
  pawl_table_cellf(table, PAWL_COLOUR_NONE, "%d", 12345);
  pawl_table_cell(table, PAWL_COLOUR_NONE, NULL);
  return table;
}

static void check_table(gint width, gboolean colour, const char *expected) {
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .colour = colour});
  g_autoptr(PawlTable) table = sample();
  g_autofree char *text = pawl_table_text(table, width, out);
  g_assert_cmpstr(text, ==, expected);
}

static void test_table(void) {
  check_table(0, FALSE,
    "TASK            N  REASON\n"
    "backup          1  exit code 3\n"
    "größe-日本  12345\n");
}

/* The last column that may be cut is cut first, to eight columns at least. */
static void test_cut(void) {
  check_table(28, FALSE,
    "TASK            N  REASON\n"
    "backup          1  exit cod…\n"
    "größe-日本  12345\n");
  check_table(20, FALSE,
    "TASK          N  REASON\n"
    "backup        1  exit co…\n"
    "größe-…   12345\n");
}

static void test_colour(void) {
  check_table(0, TRUE,
    "\033[1mTASK\033[0m            \033[1mN\033[0m  \033[1mREASON\033[0m\n"
    "backup          1  \033[31mexit code 3\033[0m\n"
    "größe-日本  12345\n");
}

static void test_control_characters(void) {
  g_autofree char *text = pawl_display_text("a\033[31mb\nc\x07\xff");
  g_assert_cmpstr(text, ==, "a\357\277\275[31mb c\357\277\275\357\277\275");
}

static void test_card(void) {
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1});
  pawl_card_line(out, "store", PAWL_COLOUR_GOOD, "sqlite:/x");
  pawl_card_line(out, "nothing", PAWL_COLOUR_NONE, NULL);
  pawl_card_linef(out, "a key that is long", PAWL_COLOUR_NONE, "%d", 4);
  g_assert_cmpstr(pawl_out_gathered(out), ==, "store         sqlite:/x\na key that is long 4\n");
}

static void test_words(void) {
  const gint64 now_ms = 20000 * PAWL_DAY_MS;
  static const struct {
    gint64 distance_ms;
    const char *text;
  } rows[] = {
    {0, "now"},
    {499, "now"},
    {-1000, "1s ago"},
    {3 * PAWL_MINUTE_MS, "in 3m"},
    {-2 * PAWL_HOUR_MS, "2h ago"},
    {90 * PAWL_SECOND_MS, "in 1m 30s"},
    {-(3 * PAWL_DAY_MS + 4 * PAWL_HOUR_MS), "3d 4h ago"},
    {59600, "in 1m"},
    {15 * PAWL_SECOND_MS, "in 15s"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = pawl_relative_text(now_ms + rows[i].distance_ms, now_ms);
    g_assert_cmpstr(text, ==, rows[i].text);
  }
  static const struct {
    gint64 ms;
    const char *text;
  } rough[] = {{0, "0ms"}, {420, "420ms"}, {1500, "1.5s"}, {12000, "12s"}, {80 * PAWL_MINUTE_MS, "1h 20m"}, {25 * PAWL_HOUR_MS, "1d 1h"}};
  for (gsize i = 0; i < G_N_ELEMENTS(rough); i++) {
    g_autofree char *text = pawl_rough_text(rough[i].ms);
    g_assert_cmpstr(text, ==, rough[i].text);
  }
  g_autofree char *when = pawl_when_text(PAWL_DAY_MS, PAWL_DAY_MS + 2 * PAWL_HOUR_MS), *never = pawl_when_text(0, now_ms);
  g_assert_cmpstr(when, ==, "1970-01-02 00:00:00 (2h ago)");
  g_assert_cmpstr(never, ==, "-");
}

static void test_json(void) {
  g_autoptr(PawlOut) plain = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1});
  g_autoptr(PawlOut) terminal = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .terminal = TRUE});
  pawl_out_json(plain, json_pack("{s:s, s:b}", "b", "ü", "a", 0));
  pawl_out_json(terminal, json_pack("{s:s}", "b", "ü"));
  g_assert_cmpstr(pawl_out_gathered(plain), ==, "{\"b\":\"ü\",\"a\":false}\n");
  g_assert_cmpstr(pawl_out_gathered(terminal), ==, "{\n  \"b\": \"ü\"\n}\n");
}

static void test_errors(void) {
  g_autoptr(PawlOut) plain = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1});
  g_autoptr(PawlOut) json = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .json = TRUE});
  g_autoptr(GError) error = g_error_new(PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "no task 'x'\nat all");
  g_assert_cmpint(pawl_out_error(plain, "run", error), ==, PAWL_EXIT_FAILED);
  g_assert_cmpint(pawl_out_error(json, "run", error), ==, PAWL_EXIT_FAILED);
  g_assert_cmpstr(pawl_out_gathered_errors(plain), ==, "pawl run: no task 'x' at all\n");
  g_assert_cmpstr(pawl_out_gathered_errors(json), ==, "{\"error\":{\"code\":\"not_found\",\"message\":\"no task 'x'\\nat all\"}}\n");
  g_assert_cmpstr(pawl_out_gathered(json), ==, "");
}

static void test_quiet(void) {
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .quiet = TRUE, .error_terminal = TRUE});
  pawl_out_note(out, "a note");
  pawl_out_progress(out, "working");
  g_assert_cmpstr(pawl_out_gathered_errors(out), ==, "");
  pawl_out_complain(out, "a complaint");
  g_assert_cmpstr(pawl_out_gathered_errors(out), ==, "a complaint\n");
}

static void test_progress(void) {
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .error_terminal = TRUE});
  pawl_out_progress(out, "reading %s", "x");
  pawl_out_complain(out, "bad");
  g_assert_cmpstr(pawl_out_gathered_errors(out), ==, "\r\033[Kreading x\r\033[Kbad\n");
}

static void test_closed_pipe(void) {
  int ends[2];
  g_assert_cmpint(pipe(ends), ==, 0);
  close(ends[0]);
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = ends[1], .error_fd = -1});
  pawl_out_text(out, "anything");
  pawl_out_flush(out);
  g_assert_true(pawl_out_closed(out));
  pawl_out_text(out, "more");
  g_assert_true(pawl_out_finish(out));
  g_assert_cmpstr(pawl_out_gathered_errors(out), ==, "");
  close(ends[1]);
}

static void test_full_disk(void) {
  int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    g_test_skip("there is no /dev/full");
    return;
  }
  g_autoptr(PawlOut) out = pawl_out_new(&(PawlOutOptions){.fd = fd, .error_fd = -1});
  pawl_out_text(out, "anything");
  g_assert_false(pawl_out_finish(out));
  g_assert_cmpstr(pawl_out_gathered_errors(out), ==, "pawl: standard output: No space left on device\n");
  close(fd);
}

static void test_detect(void) {
  PawlOutOptions options = pawl_out_detect(-1, -1, (char *[]){NULL});
  g_assert_false(options.terminal);
  g_assert_false(options.colour);
  g_assert_cmpint(options.width, ==, 0);
}

int main(int argc, char **argv) {
  g_setenv("TZ", "UTC", TRUE);
  signal(SIGPIPE, SIG_IGN);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cli/format/table", test_table);
  g_test_add_func("/cli/format/cut", test_cut);
  g_test_add_func("/cli/format/colour", test_colour);
  g_test_add_func("/cli/format/control-characters", test_control_characters);
  g_test_add_func("/cli/format/card", test_card);
  g_test_add_func("/cli/format/words", test_words);
  g_test_add_func("/cli/format/json", test_json);
  g_test_add_func("/cli/format/errors", test_errors);
  g_test_add_func("/cli/format/quiet", test_quiet);
  g_test_add_func("/cli/format/progress", test_progress);
  g_test_add_func("/cli/format/closed-pipe", test_closed_pipe);
  g_test_add_func("/cli/format/full-disk", test_full_disk);
  g_test_add_func("/cli/format/detect", test_detect);
  return g_test_run();
}
