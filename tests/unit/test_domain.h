/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the domain share. */
#pragma once
#include "domain/domain.h"

#include <string.h>

#define TEST_NOW_MS G_GINT64_CONSTANT(1796083200000) /* 2026-12-01T00:00:00Z, for what needs a time of day */

static inline GPtrArray *issues_new(void) { return g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free); }

static inline guint count_errors(const GPtrArray *issues) {
  guint n = 0;
  for (guint i = 0; i < issues->len; i++) n += !((const PawlIssue *)g_ptr_array_index(issues, i))->warning;
  return n;
}

/* All issues, a line each. */
static inline char *issues_text(const GPtrArray *issues) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < issues->len; i++) {
    g_autofree char *text = pawl_issue_text(g_ptr_array_index(issues, i));
    g_string_append_printf(out, "%s\n", text);
  }
  return g_string_free(out, FALSE);
}

static inline PawlBundle *bundle_of(const char *text, GPtrArray *issues) {
  return pawl_bundle_from_yaml(text, strlen(text), "f.yaml", issues);
}

/* Compares with the golden file, or writes it when PAWL_GOLDEN=write. */
static inline void check_golden(const char *path, const char *text) {
  g_autofree char *expected = NULL;
  if (g_strcmp0(g_getenv("PAWL_GOLDEN"), "write") == 0) g_assert_true(g_file_set_contents(path, text, -1, NULL));
  g_assert_true(g_file_get_contents(path, &expected, NULL, NULL));
  if (strcmp(expected, text) == 0) return;
  g_test_message("%s differs; what came out:\n%s", path, text);
  g_test_message("PAWL_GOLDEN=write rewrites it");
  g_test_fail();
}
