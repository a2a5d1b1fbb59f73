/* SPDX-License-Identifier: Apache-2.0 */
/* Input: a YAML file. What is read prints and reads back to the same tree; what is accepted has normal forms that read back as they are;
 * what is refused says why. */
#include "domain/spec.h"
#include "domain/yaml_tree.h"
#include "fuzz.h"

#include <string.h>

#define CHECK(condition)                                                                                                                   \
  do {                                                                                                                                     \
    if (!(condition)) g_error("does not hold: %s", #condition);                                                                            \
  } while (0)

static json_t *parse(const char *text, gsize bytes, GPtrArray *issues) {
  g_autoptr(PawlPlaces) places = pawl_places_new();
  return pawl_yaml_parse(text, bytes, "f", places, issues);
}

static void check_issues(const GPtrArray *issues, gboolean good) {
  CHECK(issues->len <= PAWL_ISSUES_MAX && pawl_issues_have_error(issues) == !good);
  for (guint i = 0; i < issues->len; i++) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    g_autofree char *text = pawl_issue_text(issue);
    CHECK(issue->line >= 0 && issue->column >= 0 && *issue->message != '\0' && g_utf8_validate(text, -1, NULL));
  }
}

static void check_print(const json_t *tree) {
  g_autofree char *text = pawl_json_canonical(tree);
  if (strlen(text) > 64 * 1024) return; /* aliases can make it long, and that costs time only */
  g_autofree char *yaml = pawl_json_to_yaml(tree);
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(json_t) again = parse(yaml, strlen(yaml), issues);
  CHECK(again != NULL && json_equal(again, tree));
}

static void check_bundle(const PawlBundle *bundle) {
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    g_autoptr(PawlTaskSpec) spec = pawl_task_spec_from_stored(task->json, NULL);
    CHECK(spec != NULL && pawl_name_valid(task->name));
    g_autoptr(json_t) json = pawl_task_spec_to_json(spec);
    g_autofree char *text = pawl_json_canonical(json);
    CHECK(strcmp(text, task->json) == 0);
    for (guint j = 0; j < task->triggers->len; j++) {
      const PawlTriggerDef *trigger = g_ptr_array_index(task->triggers, j);
      g_autoptr(PawlTriggerSpec) again = pawl_trigger_spec_from_stored(trigger->json, bundle->project, task->name, trigger->name, NULL);
      CHECK(again != NULL && pawl_name_valid(trigger->name));
      g_autoptr(json_t) trigger_json = pawl_trigger_spec_to_json(again);
      g_autofree char *trigger_text = pawl_json_canonical(trigger_json);
      CHECK(strcmp(trigger_text, trigger->json) == 0);
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(json_t) tree = parse((const char *)bytes, n_bytes, issues);
  check_issues(issues, tree != NULL);
  if (tree == NULL) return 0;
  check_print(tree);
  g_autoptr(PawlBundle) bundle = pawl_bundle_from_yaml((const char *)bytes, n_bytes, "f", issues);
  check_issues(issues, bundle != NULL);
  if (bundle == NULL) return 0;
  check_bundle(bundle);
  pawl_bundle_review(bundle, "f", G_GINT64_CONSTANT(1796083200000), issues);
  check_issues(issues, TRUE);
  return 0;
}
