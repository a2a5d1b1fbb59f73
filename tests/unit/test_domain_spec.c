/* SPDX-License-Identifier: Apache-2.0 */
/* Golden cases: each cases/spec/NAME.yaml with NAME.expected beside it, which holds what is said about the file and, when it is
 * accepted, the normal form of all that it defines. Whatever is accepted must read back from the store unchanged. */
#include "test_domain.h"

static void append_bundle(GString *out, const PawlBundle *bundle) {
  g_string_append_printf(out, "project %s\n", bundle->project);
  for (guint i = 0; i < bundle->pools->len; i++) {
    const PawlPoolSpec *pool = g_ptr_array_index(bundle->pools, i);
    g_string_append_printf(out, "pool %s %d\n", pool->name, pool->slots);
  }
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    g_string_append_printf(out, "task %s line %d\n  %s\n", task->name, task->line, task->json);
    for (guint j = 0; j < task->triggers->len; j++) {
      const PawlTriggerDef *trigger = g_ptr_array_index(task->triggers, j);
      g_string_append_printf(out, "  trigger %s line %d\n    %s\n", trigger->name, trigger->line, trigger->json);
    }
  }
}

static void test_case(gconstpointer data) {
  const char *path = data;
  g_autofree char *text = NULL, *base = g_path_get_basename(path), *golden = NULL, *said = NULL;
  gsize bytes;
  g_assert_true(g_file_get_contents(path, &text, &bytes, NULL));
  g_autoptr(GPtrArray) issues = issues_new();
  g_autoptr(PawlBundle) bundle = pawl_bundle_from_yaml(text, bytes, base, issues);
  g_assert_cmpint(bundle == NULL, ==, count_errors(issues) > 0);
  g_assert_cmpint(bundle == NULL, ==, g_str_has_prefix(base, "bad-"));
  if (bundle != NULL) pawl_bundle_review(bundle, base, TEST_NOW_MS, issues);
  said = issues_text(issues);
  g_autoptr(GString) out = g_string_new(said);
  if (bundle != NULL) append_bundle(out, bundle);
  golden = g_strndup(path, strlen(path) - strlen(".yaml"));
  g_autofree char *expected = g_strconcat(golden, ".expected", NULL);
  check_golden(expected, out->str);
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_autoptr(GDir) folder = g_dir_open(PAWL_TEST_CASES "/spec", 0, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  const char *name;
  g_assert_nonnull(folder);
  while ((name = g_dir_read_name(folder)) != NULL)
    if (g_str_has_suffix(name, ".yaml")) g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, by_name);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *test = g_strdup_printf("/domain/spec/%s", (const char *)g_ptr_array_index(names, i));
    g_test_add_data_func_full(test, g_build_filename(PAWL_TEST_CASES "/spec", g_ptr_array_index(names, i), NULL), test_case, g_free);
  }
  return g_test_run();
}
