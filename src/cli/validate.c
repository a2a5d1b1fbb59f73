/* SPDX-License-Identifier: Apache-2.0 */
/* pawl validate: what is wrong with a file, without a store. */
#include "base/error.h"
#include "cli/bundle.h"
#include "cli/verbs.h"

typedef struct {
  char *file;
} ValidateOptions;

static const PawlOption options[] = {
  {"file", 'f', PAWL_OPTION_FILE, offsetof(ValidateOptions, file), "FILE", "The file; - is standard input", 0, 0, 0},
};

static const PawlExample examples[] = {
  {"pawl validate -f pawl.yaml", "name every error and warning with its line"},
  {"pawl import crontab /etc/crontab | pawl validate -f -", "check what an import gives"},
};

static const char *plural(guint n) { return n == 1 ? "" : "s"; }

static void print_verdict(PawlOut *out, const PawlBundle *bundle, guint n_triggers, const GPtrArray *issues) {
  guint n_warnings = 0;
  for (guint i = 0; i < issues->len; i++) n_warnings += ((const PawlIssue *)g_ptr_array_index(issues, i))->warning;
  guint n_errors = issues->len - n_warnings;
  g_autofree char *warnings = n_warnings > 0 ? g_strdup_printf(", %u warning%s", n_warnings, plural(n_warnings)) : g_strdup("");
  if (bundle != NULL)
    pawl_out_text(out, "%svalid%s: %u task%s, %u trigger%s%s\n", pawl_out_colour(out, PAWL_COLOUR_GOOD), pawl_out_plain(out),
      bundle->tasks->len, plural(bundle->tasks->len), n_triggers, plural(n_triggers), warnings);
  else
    pawl_out_text(out, "%snot valid%s: %u error%s%s\n", pawl_out_colour(out, PAWL_COLOUR_BAD), pawl_out_plain(out), n_errors,
      plural(n_errors), warnings);
}

static int run(PawlCall *call, GError **error) {
  const ValidateOptions *given = call->options;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(GError) why = NULL;
  if (given->file == NULL) return pawl_usage_error(call, error, "name the file with -f FILE");
  g_autoptr(PawlBundle) bundle = pawl_bundle_read(call, given->file, issues, &why);
  if (bundle == NULL && issues->len == 0) { /* it could not even be read */
    g_propagate_error(error, g_steal_pointer(&why));
    return PAWL_EXIT_CONFIG;
  }
  guint n_triggers = 0;
  for (guint i = 0; bundle != NULL && i < bundle->tasks->len; i++)
    n_triggers += ((const PawlTaskDef *)g_ptr_array_index(bundle->tasks, i))->triggers->len;
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = json_object();
    json_object_set_new(object, "valid", json_boolean(bundle != NULL));
    json_object_set_new(object, "tasks", json_integer(bundle != NULL ? bundle->tasks->len : 0));
    json_object_set_new(object, "triggers", json_integer(n_triggers));
    json_object_set_new(object, "issues", pawl_json_issues(issues));
    pawl_out_json(call->out, object);
  } else {
    print_verdict(call->out, bundle, n_triggers, issues);
  }
  return bundle != NULL ? PAWL_EXIT_OK : PAWL_EXIT_CONFIG;
}

const PawlVerb pawl_verb_validate = {
  .name = "validate",
  .group = "Define",
  .summary = "Check a file, without a store",
  .synopsis = "-f FILE",
  .description = "Exit code 78 when the file has errors; warnings alone leave it at 0.",
  .json = "{valid, tasks, triggers, issues: [{severity, file, line, column, path, message, hint}]}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, ValidateOptions),
  .run = run,
};
