/* SPDX-License-Identifier: Apache-2.0 */
/* Input: a first byte 'u', 's' or another for the format (user, system, detected), then a crontab. What is imported is a good file that
 * prints and reads back; what is not says why, with the line. */
#include "domain/issue.h"
#include "fuzz.h"

#include <string.h>

#define CHECK(condition)                                                                                                                   \
  do {                                                                                                                                     \
    if (!(condition)) g_error("does not hold: %s", #condition);                                                                            \
  } while (0)

static void check_tree(const json_t *tree, GPtrArray *issues) {
  g_autofree char *yaml = pawl_json_to_yaml(tree);
  g_autoptr(PawlBundle) direct = pawl_bundle_from_json(tree, issues), printed = pawl_bundle_from_yaml(yaml, strlen(yaml), "f", issues);
  CHECK(direct != NULL && printed != NULL && direct->tasks->len == printed->tasks->len);
  for (guint i = 0; i < direct->tasks->len; i++) {
    const PawlTaskDef *a = g_ptr_array_index(direct->tasks, i), *b = g_ptr_array_index(printed->tasks, i);
    CHECK(
      strcmp(a->name, b->name) == 0 && strcmp(a->digest, b->digest) == 0 && a->triggers->len == b->triggers->len && a->triggers->len > 0);
    for (guint j = 0; j < a->triggers->len; j++)
      CHECK(strcmp(((PawlTriggerDef *)a->triggers->pdata[j])->digest, ((PawlTriggerDef *)b->triggers->pdata[j])->digest) == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
  PawlCrontabOptions options = {"tab", PAWL_CRONTAB_DETECT, "Europe/Berlin", "me", "/home/me", TRUE};
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  if (n_bytes == 0) return 0;
  if (bytes[0] == 'u') options.format = PAWL_CRONTAB_USER;
  if (bytes[0] == 's') options.format = PAWL_CRONTAB_SYSTEM;
  g_autoptr(json_t) tree = pawl_crontab_to_json((const char *)bytes + 1, n_bytes - 1, &options, issues);
  CHECK(issues->len <= PAWL_ISSUES_MAX && pawl_issues_have_error(issues) == (tree == NULL));
  for (guint i = 0; i < issues->len; i++) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    g_autofree char *text = pawl_issue_text(issue);
    CHECK(issue->line > 0 && issue->column > 0 && g_utf8_validate(text, -1, NULL));
  }
  if (tree != NULL) check_tree(tree, issues);
  return 0;
}
