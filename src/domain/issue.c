/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/issue.h"

#include <string.h>

void pawl_issue_free(PawlIssue *issue) {
  if (issue == NULL) return;
  g_free(issue->file);
  g_free(issue->path);
  g_free(issue->message);
  g_free(issue->hint);
  g_free(issue);
}

char *pawl_issue_text(const PawlIssue *issue) {
  GString *out = g_string_new(NULL);
  if (*issue->file != '\0') g_string_append_printf(out, "%s:", issue->file);
  if (issue->line > 0) g_string_append_printf(out, "%d:", issue->line);
  if (issue->line > 0 && issue->column > 0) g_string_append_printf(out, "%d:", issue->column);
  if (out->len > 0) g_string_append_c(out, ' ');
  if (issue->warning || issue->line > 0) g_string_append(out, issue->warning ? "warning: " : "error: ");
  if (*issue->path != '\0') g_string_append_printf(out, "%s: ", issue->path);
  g_string_append(out, issue->message);
  if (issue->hint != NULL) g_string_append_printf(out, "; %s", issue->hint);
  return g_string_free(out, FALSE);
}

/* Room for an error in a full list. FALSE: it is full of errors. */
static gboolean drop_last_warning(GPtrArray *issues) {
  for (guint i = issues->len; i-- > 0;) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    if (!issue->warning) continue;
    /* freed here and not by the array, which may have been made without a free function */
    pawl_issue_free(g_ptr_array_steal_index(issues, i));
    return TRUE;
  }
  return FALSE;
}

void pawl_issues_add(
  GPtrArray *issues, gboolean warning, const char *file, PawlPlace place, const char *path, const char *hint, const char *format, ...) {
  PawlIssue *issue = g_new0(PawlIssue, 1);
  va_list args;
  va_start(args, format);
  issue->message = g_strdup_vprintf(format, args);
  va_end(args);
  issue->warning = warning;
  issue->file = g_strdup(file != NULL ? file : "");
  issue->line = place.line;
  issue->column = place.column;
  issue->path = g_strdup(path != NULL ? path : "");
  issue->hint = g_strdup(hint);
  pawl_issues_move(issues, issue);
}

void pawl_issues_move(GPtrArray *issues, PawlIssue *issue) {
  if (issues->len < PAWL_ISSUES_MAX || (!issue->warning && drop_last_warning(issues)))
    g_ptr_array_add(issues, issue);
  else
    pawl_issue_free(issue);
}

gboolean pawl_issues_have_error(const GPtrArray *issues) {
  for (guint i = 0; i < issues->len; i++)
    if (!((const PawlIssue *)g_ptr_array_index(issues, i))->warning) return TRUE;
  return FALSE;
}

#define WORD_MAX 32

/* Edits (insert, delete, replace, swap of neighbours) between two words of at most WORD_MAX letters, without regard to case. */
static guint edit_distance(const char *a, gsize n_a, const char *b, gsize n_b) {
  guint rows[3][WORD_MAX + 1];
  guint *before = rows[0], *last = rows[1], *now = rows[2];
  for (guint j = 0; j <= n_b; j++) last[j] = j;
  for (guint i = 1; i <= n_a; i++) {
    now[0] = i;
    for (guint j = 1; j <= n_b; j++) {
      guint differs = g_ascii_tolower(a[i - 1]) != g_ascii_tolower(b[j - 1]);
      guint best = MIN(MIN(last[j] + 1, now[j - 1] + 1), last[j - 1] + differs);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) best = MIN(best, before[j - 2] + 1);
      now[j] = best;
    }
    guint *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[n_b];
}

const char *pawl_nearest_word(const char *word, const char *const *words) {
  gsize n = strlen(word);
  const char *nearest = NULL;
  guint limit = n <= 4 ? 1 : 2, least = limit + 1;
  if (n > WORD_MAX) return NULL;
  for (; *words != NULL; words++) {
    gsize n_known = strlen(*words);
    if (n_known > WORD_MAX) continue;
    guint distance = edit_distance(word, n, *words, n_known);
    if (distance >= least) continue;
    least = distance;
    nearest = *words;
  }
  return nearest;
}
