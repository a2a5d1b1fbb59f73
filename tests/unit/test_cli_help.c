/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs is complete, its help texts render, and every example in them is a call that parses. */
#include "test_cli.h"

#include "base/error.h"

#include <string.h>

static char *nothing[] = {NULL};

static void test_complete(void) {
  static const char *const promised[] = {"up", "import", "next", "status", "validate", "diff", "apply", "list", "jobs", "show", "run",
    "runs", "logs", "cancel", "retry", "pause", "resume", "delete", "explain", "pools", "replicas", "db", "doctor", "defaults", "version",
    "help"};
  gsize n;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  for (gsize i = 0; i < G_N_ELEMENTS(promised); i++) g_assert_nonnull(pawl_verb_find(promised[i]));
  for (gsize i = 0; i < n; i++) {
    g_test_message("%s", verbs[i]->name);
    g_assert_nonnull(verbs[i]->group);
    g_assert_nonnull(verbs[i]->summary);
    g_assert_nonnull(verbs[i]->synopsis);
    g_assert_nonnull(verbs[i]->json);
    g_assert_nonnull(verbs[i]->run);
    g_assert_cmpuint(verbs[i]->n_examples, >, 0);
    g_assert_true(verbs[i]->max_args == -1 || verbs[i]->max_args >= verbs[i]->min_args);
    g_assert_true(pawl_verb_find(verbs[i]->name) == verbs[i]);
  }
}

/* No letter and no name means two things within a verb. */
static void test_options(void) {
  gsize n, n_global;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  const PawlOption *global = pawl_global_options(&n_global);
  for (gsize i = 0; i < n; i++) {
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (gsize j = 0; j < verbs[i]->n_options + n_global; j++) {
      const PawlOption *option = j < verbs[i]->n_options ? &verbs[i]->options[j] : &global[j - verbs[i]->n_options];
      g_assert_nonnull(option->help);
      g_assert_true((option->value == NULL) == (option->kind == PAWL_OPTION_FLAG));
      g_assert_true(g_hash_table_add(seen, g_strdup(option->name)));
      if (option->letter != 0) g_assert_true(g_hash_table_add(seen, g_strdup_printf("%c", option->letter)));
      if (option->kind == PAWL_OPTION_COUNT) g_assert_cmpint(option->max, >, option->min);
    }
  }
}

/* The same words with one blank between them: help texts are wrapped. */
static char *squeeze(const char *text) {
  g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
  GString *line = g_string_new(NULL);
  for (gsize i = 0; words[i] != NULL; i++)
    if (*words[i] != '\0') g_string_append_printf(line, "%s%s", line->len > 0 ? " " : "", words[i]);
  return g_string_free(line, FALSE);
}

static void check_says(const char *text, const char *words) {
  g_autofree char *all = squeeze(text), *some = squeeze(words);
  g_assert_nonnull(strstr(all, some));
}

/* An example is never broken; all else is. */
static void check_width(const char *text) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (gsize i = 0; lines[i] != NULL; i++) g_assert_cmpint(pawl_display_width(lines[i]), <=, 100);
}

static void test_render(void) {
  gsize n;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  g_autofree char *all = pawl_help_all(FALSE), *brief = pawl_help_all(TRUE);
  g_assert_cmpuint(strlen(brief), <, strlen(all));
  for (gsize i = 0; i < n; i++) {
    g_autofree char *text = pawl_help_verb(verbs[i]), *line = g_strdup_printf("\n  %s ", verbs[i]->name);
    g_assert_true(g_str_has_prefix(text, "pawl "));
    g_assert_true(g_utf8_validate(text, -1, NULL));
    g_assert_nonnull(strstr(text, verbs[i]->summary));
    g_assert_nonnull(strstr(text, "\nExamples:\n"));
    g_assert_nonnull(strstr(text, "\nJSON: "));
    g_assert_nonnull(strstr(text, "--json"));
    check_width(text);
    check_says(text, verbs[i]->json);
    if (verbs[i]->description != NULL) check_says(text, verbs[i]->description);
    for (gsize j = 0; j < verbs[i]->n_options; j++) check_says(text, verbs[i]->options[j].help);
    g_assert_nonnull(strstr(brief, line));
  }
  g_autofree char *up = pawl_help_verb(pawl_verb_find("up"));
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) check_says(up, pawl_setting_table()[i].help);
}

/* The calls of pawl in a line of shell: parts of a pipe, without a redirection. */
static guint parse_example(const char *line) {
  g_auto(GStrv) parts = g_strsplit(line, " | ", -1);
  guint n = 0;
  for (gsize i = 0; parts[i] != NULL; i++) {
    char *redirection = strstr(parts[i], " > ");
    if (redirection != NULL) *redirection = '\0';
    if (!g_str_has_prefix(g_strstrip(parts[i]), "pawl ")) continue;
    g_autoptr(GError) error = NULL;
    g_autoptr(PawlCall) call = test_parse(parts[i] + strlen("pawl "), nothing, &error);
    if (error != NULL) g_test_message("%s: %s", line, error->message);
    g_assert_no_error(error);
    g_assert_nonnull(call);
    n++;
  }
  return n;
}

static void test_examples(void) {
  gsize n;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < verbs[i]->n_examples; j++) {
      g_assert_nonnull(verbs[i]->examples[j].note);
      g_assert_cmpuint(parse_example(verbs[i]->examples[j].command), >=, 1);
    }
  g_autofree char *brief = pawl_help_all(TRUE);
  g_auto(GStrv) lines = g_strsplit(brief, "\n", -1);
  guint found = 0;
  for (gsize i = 0; lines[i] != NULL; i++) {
    char *words = g_str_has_prefix(lines[i], "  pawl ") ? strstr(lines[i] + 2, "   ") : NULL;
    if (words == NULL) continue;
    *words = '\0';
    found += parse_example(lines[i] + 2);
  }
  g_assert_cmpuint(found, >=, 3);
}

static void test_nearest(void) {
  g_assert_cmpstr(pawl_verb_nearest("statos"), ==, "status");
  g_assert_cmpstr(pawl_verb_nearest("job"), ==, "jobs");
  g_assert_cmpstr(pawl_verb_nearest("entirely-else"), ==, NULL);
  g_assert_null(pawl_verb_find("statos"));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cli/help/complete", test_complete);
  g_test_add_func("/cli/help/options", test_options);
  g_test_add_func("/cli/help/render", test_render);
  g_test_add_func("/cli/help/examples", test_examples);
  g_test_add_func("/cli/help/nearest", test_nearest);
  return g_test_run();
}
