/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the command line share. */
#pragma once
#include "cli/verbs.h"

/* Parses "runs --limit 5", as a shell splits it. */
static inline PawlCall *test_parse(const char *line, char **environment, GError **error) {
  g_auto(GStrv) words = NULL;
  g_autoptr(GPtrArray) rest = g_ptr_array_new();
  gint n;
  g_assert_true(g_shell_parse_argv(line, &n, &words, NULL));
  const PawlVerb *verb = pawl_verb_find(words[0]);
  g_assert_nonnull(verb);
  for (gint i = 1; i < n; i++) g_ptr_array_add(rest, words[i]);
  return pawl_call_parse(verb, rest, environment, error);
}

/* An output that gathers, without colours. */
static inline PawlOut *test_out(gboolean json) { return pawl_out_new(&(PawlOutOptions){.fd = -1, .error_fd = -1, .json = json}); }
