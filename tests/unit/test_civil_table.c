/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of tests/data/cron.tsv (read tests/data/cron.md), one test a row. */
#include "test_civil.h"

enum { COL_ID, COL_DIALECT, COL_EXPRESSION, COL_ZONE, COL_START, COL_EXPECTED, COL_THEME, N_COLS };

static char *unescape(const char *text) {
  GString *out = g_string_new(strcmp(text, "<EMPTY>") == 0 ? "" : text);
  g_string_replace(out, "\\t", "\t", 0);
  g_string_replace(out, "\\s", " ", 0);
  return g_string_free(out, FALSE);
}

static void check_instants(char **row, const PawlCron *cron) {
  gint64 at_ms = instant(row[COL_START]), start_ms = at_ms, probe_ms;
  if (strcmp(row[COL_EXPECTED], "error: never") == 0 || pawl_cron_is_reboot(cron)) {
    g_assert_false(pawl_cron_next(cron, at_ms, &probe_ms));
    return;
  }
  g_auto(GStrv) expected = g_strsplit(row[COL_EXPECTED], ",", -1);
  for (guint i = 0; expected[i] != NULL; i++) {
    char text[PAWL_INSTANT_TEXT];
    g_assert_true(pawl_cron_next(cron, at_ms, &at_ms));
    g_assert_cmpstr(pawl_instant_text_short(at_ms, text), ==, expected[i]);
    g_assert_true(pawl_cron_matches(cron, at_ms));
    g_assert_true(pawl_cron_next(cron, at_ms - 1, &probe_ms) || strcmp(row[COL_DIALECT], "every") == 0);
    if (strcmp(row[COL_DIALECT], "every") != 0) g_assert_cmpint(probe_ms, ==, at_ms);
  }
  if (strstr(row[COL_THEME], "finite") != NULL) g_assert_false(pawl_cron_next(cron, at_ms, &probe_ms));
  g_assert_cmpint(at_ms, >, start_ms);
}

static void check_text(char **row, const PawlCron *cron, PawlCronFields fields, PawlZone *zone) {
  g_autofree char *text = pawl_cron_text(cron), *sentence = pawl_cron_explain(cron);
  g_autoptr(PawlCron) again = pawl_cron_parse(text, fields, "", zone, NULL);
  g_assert_nonnull(again);
  g_autofree char *text_again = pawl_cron_text(again);
  g_assert_cmpstr(text_again, ==, text);
  g_assert_true(g_ascii_isupper(sentence[0]) && g_str_has_suffix(sentence, "."));
  if (!g_str_has_prefix(row[COL_EXPECTED], "error:")) check_instants(row, again);
}

static void test_row(gconstpointer data) {
  g_auto(GStrv) row = g_strsplit(data, "\t", -1);
  g_assert_cmpuint(g_strv_length(row), ==, N_COLS);
  g_autofree char *expression = unescape(row[COL_EXPRESSION]);
  PawlCronFields fields = row[COL_DIALECT][0] == '6' || row[COL_DIALECT][0] == '7' ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES;
  g_autoptr(PawlZone) zone = strcmp(row[COL_ZONE], "-") == 0 ? NULL : zone_of(row[COL_ZONE]);
  g_autoptr(GError) error = NULL;
  g_autoptr(PawlCron) cron = pawl_cron_parse(expression, fields, "", zone, &error);
  gboolean refused = g_str_has_prefix(row[COL_EXPECTED], "error:") && strcmp(row[COL_EXPECTED], "error: never") != 0 &&
                     g_ascii_strcasecmp(expression, "@reboot") != 0;
  if (refused) {
    g_assert_null(cron);
    g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
    g_assert_true(g_str_has_prefix(error->message, "column "));
    return;
  }
  g_assert_no_error(error);
  check_instants(row, cron);
  check_text(row, cron, fields, zone);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(PAWL_TEST_DATA "/cron.tsv", &text, NULL, &error);
  g_assert_no_error(error);
  g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
  for (guint i = 1; lines[i] != NULL; i++) {
    g_autofree char *id = g_strndup(lines[i], strcspn(lines[i], "\t")), *path = g_strconcat("/civil/table/", id, NULL);
    g_test_add_data_func(path, lines[i], test_row);
  }
  return g_test_run();
}
