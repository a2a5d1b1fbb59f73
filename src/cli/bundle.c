/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bundle.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

json_t *pawl_json_issues(const GPtrArray *issues) {
  json_t *array = json_array();
  for (guint i = 0; i < issues->len; i++) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    json_t *object = json_object();
    pawl_json_set_text(object, "severity", issue->warning ? "warning" : "error");
    pawl_json_set_text(object, "file", issue->file);
    json_object_set_new(object, "line", issue->line > 0 ? json_integer(issue->line) : json_null());
    json_object_set_new(object, "column", issue->column > 0 ? json_integer(issue->column) : json_null());
    pawl_json_set_text(object, "path", issue->path);
    pawl_json_set_text(object, "message", issue->message);
    pawl_json_set_text(object, "hint", issue->hint);
    json_array_append_new(array, object);
  }
  return array;
}

static gint by_line(gconstpointer a, gconstpointer b) {
  const PawlIssue *x = *(PawlIssue *const *)a, *y = *(PawlIssue *const *)b;
  return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : (x->column > y->column) - (x->column < y->column);
}

static void say_issues(PawlOut *out, const GPtrArray *issues) {
  for (guint i = 0; i < issues->len; i++) {
    g_autofree char *text = pawl_issue_text(g_ptr_array_index(issues, i));
    pawl_out_complain(out, "%s", text);
  }
}

static guint count_errors(const GPtrArray *issues, const char **ret_first) {
  guint n = 0;
  for (guint i = 0; i < issues->len; i++) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    if (!issue->warning && n++ == 0) *ret_first = issue->message;
  }
  return n;
}

PawlBundle *pawl_bundle_read(PawlCall *call, const char *file, GPtrArray *issues, GError **error) {
  g_autofree char *text = NULL, *shown = strcmp(file, "-") == 0 ? g_strdup("standard input") : g_filename_display_name(file);
  const char *first = "";
  gsize bytes;
  if (!pawl_read_file(file, &text, &bytes, error)) return NULL;
  pawl_out_progress(call->out, "reading %s", shown);
  PawlBundle *bundle = pawl_bundle_from_yaml(text, bytes, shown, issues);
  if (bundle != NULL) pawl_bundle_review(bundle, shown, pawl_clock_wall_ms(), issues);
  pawl_out_progress_end(call->out);
  g_ptr_array_sort(issues, by_line);
  if (!pawl_out_json_wanted(call->out)) say_issues(call->out, issues);
  guint n_errors = count_errors(issues, &first);
  if (bundle != NULL) return bundle;
  if (pawl_out_json_wanted(call->out))
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s has %u error%s, the first: %s", shown, n_errors, n_errors == 1 ? "" : "s", first);
  else
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s has %u error%s; nothing was changed", shown, n_errors, n_errors == 1 ? "" : "s");
  return NULL;
}

char *pawl_owner_mark(const char *file) { return strcmp(file, "-") == 0 ? g_strdup("cli") : g_canonicalize_filename(file, NULL); }
