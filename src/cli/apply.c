/* SPDX-License-Identifier: Apache-2.0 */
/* pawl apply and pawl diff: a file's tasks into the store, or what that would change. */
#include "base/error.h"
#include "cli/bundle.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/publish.h"

typedef struct {
  char *file;
  gboolean prune, adopt;
} ApplyOptions;

static const PawlOption options[] = {
  {"file", 'f', PAWL_OPTION_FILE, offsetof(ApplyOptions, file), "FILE", "The file; - is standard input", 0, 0, 0},
  {"prune", 0, PAWL_OPTION_FLAG, offsetof(ApplyOptions, prune), NULL, "Remove this file's tasks and pools that are not in it any more", 0,
    0, 0},
  {"adopt", 0, PAWL_OPTION_FLAG, offsetof(ApplyOptions, adopt), NULL, "Take over tasks that another file owns", 0, 0, 0},
};

static const PawlExample apply_examples[] = {
  {"pawl apply -f pawl.yaml", "add and change what the file says"},
  {"pawl apply --prune -f pawl.yaml", "and remove what it does not say any more"},
  {"pawl import crontab /etc/crontab | pawl apply -f -", "from standard input"},
};
static const PawlExample diff_examples[] = {
  {"pawl diff --prune -f pawl.yaml", "show what `apply --prune` would change; exit code 1 when anything"},
};

static const struct {
  PawlChangeKind kind;
  PawlColour colour;
  const char *name, *mark;
} kinds[] = {
  {PAWL_CHANGE_ADD, PAWL_COLOUR_GOOD, "add", "+"},
  {PAWL_CHANGE_EDIT, PAWL_COLOUR_WARN, "edit", "~"},
  {PAWL_CHANGE_REMOVE, PAWL_COLOUR_BAD, "remove", "-"},
  {PAWL_CHANGE_SAME, PAWL_COLOUR_NONE, "same", "="},
  {PAWL_CHANGE_NOTE, PAWL_COLOUR_DIM, "note", "·"},
};

static void count_changes(const GPtrArray *changes, guint counts[G_N_ELEMENTS(kinds)]) {
  for (guint i = 0; i < changes->len; i++) counts[((const PawlChange *)g_ptr_array_index(changes, i))->kind]++;
}

static void print_changes(PawlOut *out, const GPtrArray *changes, const guint *counts, gboolean dry_run) {
  for (guint i = 0; i < changes->len; i++) {
    const PawlChange *change = g_ptr_array_index(changes, i);
    if (change->kind == PAWL_CHANGE_SAME) continue;
    g_autofree char *object = pawl_display_text(change->object);
    pawl_out_text(
      out, "%s%s %s%s\n", pawl_out_colour(out, kinds[change->kind].colour), kinds[change->kind].mark, object, pawl_out_plain(out));
    for (guint j = 0; change->lines != NULL && j < change->lines->len; j++) {
      g_autofree char *line = pawl_display_text(g_ptr_array_index(change->lines, j));
      pawl_out_text(out, "    %s\n", line);
    }
  }
  pawl_out_text(out, "%s%u added, %u changed, %u removed, %u unchanged\n", dry_run ? "would be: " : "", counts[PAWL_CHANGE_ADD],
    counts[PAWL_CHANGE_EDIT], counts[PAWL_CHANGE_REMOVE], counts[PAWL_CHANGE_SAME]);
}

static json_t *json_changes(const GPtrArray *changes, const guint *counts, const GPtrArray *issues, gboolean dry_run) {
  json_t *object = json_object(), *array = json_array();
  for (guint i = 0; i < changes->len; i++) {
    const PawlChange *change = g_ptr_array_index(changes, i);
    json_t *row = json_object();
    pawl_json_set_text(row, "change", kinds[change->kind].name);
    pawl_json_set_text(row, "object", change->object);
    json_object_set_new(row, "lines", pawl_json_texts(change->lines));
    json_array_append_new(array, row);
  }
  json_object_set_new(object, "dry_run", json_boolean(dry_run));
  json_object_set_new(object, "added", json_integer(counts[PAWL_CHANGE_ADD]));
  json_object_set_new(object, "changed", json_integer(counts[PAWL_CHANGE_EDIT]));
  json_object_set_new(object, "removed", json_integer(counts[PAWL_CHANGE_REMOVE]));
  json_object_set_new(object, "unchanged", json_integer(counts[PAWL_CHANGE_SAME]));
  json_object_set_new(object, "changes", array);
  json_object_set_new(object, "issues", pawl_json_issues(issues));
  return object;
}

static int apply(PawlCall *call, gboolean dry_run, GError **error) {
  const ApplyOptions *given = call->options;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
  guint counts[G_N_ELEMENTS(kinds)] = {0};
  if (given->file == NULL) return pawl_usage_error(call, error, "name the file with -f FILE");
  g_autoptr(PawlBundle) bundle = pawl_bundle_read(call, given->file, issues, error);
  if (bundle == NULL) return PAWL_EXIT_CONFIG;
  g_autofree char *mark = pawl_owner_mark(given->file);
  g_autoptr(PawlStore) store =
    dry_run ? pawl_call_store(call, PAWL_DB_READ_WRITE, error) : pawl_call_store_if_any(call, PAWL_DB_READ_WRITE, TRUE, error);
  if (store == NULL) return PAWL_EXIT_FAILED;
  PawlApplyOptions how = {.owner_mark = mark, .prune = given->prune, .adopt = given->adopt, .dry_run = dry_run};
  pawl_out_progress(call->out, "%s %u task%s", dry_run ? "comparing" : "applying", bundle->tasks->len, bundle->tasks->len == 1 ? "" : "s");
  if (!pawl_store_apply(store, bundle, &how, changes, error)) return PAWL_EXIT_FAILED;
  pawl_out_progress_end(call->out);
  if (!dry_run) pawl_db_ring(pawl_store_db(store));
  count_changes(changes, counts);
  if (pawl_out_json_wanted(call->out))
    pawl_out_json(call->out, json_changes(changes, counts, issues, dry_run));
  else
    print_changes(call->out, changes, counts, dry_run);
  gboolean differs = counts[PAWL_CHANGE_ADD] + counts[PAWL_CHANGE_EDIT] + counts[PAWL_CHANGE_REMOVE] > 0;
  return dry_run && differs ? PAWL_EXIT_FAILED : PAWL_EXIT_OK;
}

static int run_apply(PawlCall *call, GError **error) { return apply(call, FALSE, error); }
static int run_diff(PawlCall *call, GError **error) { return apply(call, TRUE, error); }

#define CHANGES_JSON "{dry_run, added, changed, removed, unchanged, changes: [{change: add|edit|remove|same|note, object, lines}], issues}"

const PawlVerb pawl_verb_apply = {
  .name = "apply",
  .group = "Define",
  .summary = "Put a file's tasks into the store",
  .synopsis = "-f FILE",
  .description =
    "All of it in one transaction, or nothing; the store is made when there is none. A file owns the tasks that it made: another file's are refused without --adopt, and --prune "
    "removes only its own. Pauses and pool overrides stay. A running `pawl up` takes it over at once.",
  .json = CHANGES_JSON,
  PAWL_EXAMPLES(apply_examples),
  PAWL_OPTIONS(options, ApplyOptions),
  .run = run_apply,
};

const PawlVerb pawl_verb_diff = {
  .name = "diff",
  .group = "Define",
  .summary = "Show what apply would change",
  .synopsis = "-f FILE",
  .description = "Exit code 0 when nothing would change, 1 when something would, 69 without a store.",
  .json = CHANGES_JSON,
  PAWL_EXAMPLES(diff_examples),
  PAWL_OPTIONS(options, ApplyOptions),
  .run = run_diff,
};
