/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, all from the tables. */
#include "cli/verb.h"

#include <string.h>

#define OPTION_WIDTH 26
#define TEXT_WIDTH 100

static const char *const groups[] = {"Start", "Define", "Run", "Look", "Operate"};

/* Adds words, broken at TEXT_WIDTH; lines but the first are indented. `column`: where the text begins. Blanks and breaks in `words` only
 * part them. */
static void add_words(GString *text, const char *words, gsize column, int indent) {
  g_auto(GStrv) parts = g_strsplit_set(words, " \n", -1);
  gboolean first = TRUE;
  for (gsize i = 0; parts[i] != NULL; i++) {
    gsize width = (gsize)pawl_display_width(parts[i]);
    if (width == 0) continue;
    if (!first && column + 1 + width > TEXT_WIDTH) {
      g_string_append_printf(text, "\n%*s", indent, "");
      column = (gsize)indent;
    } else if (!first) {
      g_string_append_c(text, ' ');
      column++;
    }
    g_string_append(text, parts[i]);
    column += width;
    first = FALSE;
  }
  g_string_append_c(text, '\n');
}

static gsize longest_name(void) {
  gsize n, longest = 0;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  for (gsize i = 0; i < n; i++) longest = MAX(longest, strlen(verbs[i]->name));
  return longest;
}

static void add_group(GString *text, const char *group, int width) {
  gsize n;
  const PawlVerb *const *verbs = pawl_verbs(&n);
  g_string_append_printf(text, "\n%s:\n", group);
  for (gsize i = 0; i < n; i++)
    if (strcmp(verbs[i]->group, group) == 0) g_string_append_printf(text, "  %-*s  %s\n", width, verbs[i]->name, verbs[i]->summary);
}

static void add_option(GString *text, char letter, const char *name, const char *value, const char *help, const char *note) {
  g_autoptr(GString) left = g_string_new(NULL);
  g_autofree char *right = g_strconcat(help, note, NULL);
  if (letter != 0) g_string_append_printf(left, "-%c, ", letter);
  g_string_append_printf(left, "--%s", name);
  if (value != NULL) g_string_append_printf(left, " %s", value);
  g_string_append_printf(text, "  %-*s  ", OPTION_WIDTH, left->str);
  add_words(text, right, MAX(left->len, OPTION_WIDTH) + 4, OPTION_WIDTH + 4);
}

static void add_settings(GString *text, gboolean up) {
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) {
    const PawlSetting *setting = &pawl_setting_table()[i];
    if (setting->up_only != up) continue;
    g_autoptr(GString) note = g_string_new(NULL);
    if (setting->env != NULL) g_string_append_printf(note, "%s", setting->env);
    if (setting->fallback != NULL) g_string_append_printf(note, "%sdefault %s", note->len > 0 ? ", " : "", setting->fallback);
    g_autofree char *shown = note->len > 0 ? g_strdup_printf(" [%s]", note->str) : g_strdup("");
    add_option(text, 0, setting->name, setting->value, setting->help, shown);
  }
}

static void add_global(GString *text) {
  gsize n;
  const PawlOption *options = pawl_global_options(&n);
  add_settings(text, FALSE);
  for (gsize i = 0; i < n; i++) add_option(text, options[i].letter, options[i].name, options[i].value, options[i].help, "");
}

char *pawl_help_all(gboolean brief) {
  GString *text = g_string_new("pawl runs what is due: cron entries, intervals and instants, once each, with a history that says why.\n\n"
                               "  pawl up -f pawl.yaml     run a file's tasks until Ctrl-C\n"
                               "  pawl status              what runs, what failed, what comes next\n"
                               "  pawl next '30 2 * * *'   when an expression fires\n");
  int width = (int)longest_name();
  for (gsize i = 0; i < G_N_ELEMENTS(groups); i++) add_group(text, groups[i], width);
  g_string_append(text, "\n`pawl VERB --help` explains a verb, with examples.\n");
  if (brief) return g_string_free(text, FALSE);
  g_string_append(text, "\nOptions of every verb:\n");
  add_global(text);
  g_string_append(text, "\nA REFERENCE is TASK, TASK/TRIGGER, or a run's id or its last 8 characters.\n"
                        "A DURATION is written 30s, 15m, 1h30m or 2d; an INSTANT 2027-01-31T02:00:00Z.\n"
                        "\nExit codes: 0 ok, 1 failed (diff: there are differences), 2 usage, 69 store unavailable, 75 try again,\n"
                        "77 denied, 78 configuration; run --wait: the task's own, 124 timed out, 128+n ended by signal n.\n");
  return g_string_free(text, FALSE);
}

char *pawl_help_verb(const PawlVerb *verb) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "pawl %s: %s\n\nUsage: pawl %s%s%s [OPTIONS]\n", verb->name, verb->summary, verb->name,
    *verb->synopsis != '\0' ? " " : "", verb->synopsis);
  if (verb->alias != NULL) g_string_append_printf(text, "Also:  pawl %s\n", verb->alias);
  if (verb->description != NULL) {
    g_string_append_c(text, '\n');
    add_words(text, verb->description, 0, 0);
  }
  if (verb->n_options > 0 || verb->up_settings) g_string_append(text, "\nOptions:\n");
  for (gsize i = 0; i < verb->n_options; i++)
    add_option(text, verb->options[i].letter, verb->options[i].name, verb->options[i].value, verb->options[i].help, "");
  if (verb->up_settings) add_settings(text, TRUE);
  g_string_append(text, "\nOptions of every verb:\n");
  add_global(text);
  g_string_append(text, "\nExamples:\n");
  for (gsize i = 0; i < verb->n_examples; i++)
    g_string_append_printf(text, "  %s\n      %s\n", verb->examples[i].command, verb->examples[i].note);
  g_string_append(text, "\nJSON: ");
  add_words(text, verb->json, strlen("JSON: "), (int)strlen("JSON: "));
  return g_string_free(text, FALSE);
}
