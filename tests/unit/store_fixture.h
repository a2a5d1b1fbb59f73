/* SPDX-License-Identifier: Apache-2.0 */
/* A fresh store in a folder of its own, for unit tests of the store and what stands on it. */
#pragma once
#include "store/publish.h"
#include "store/store.h"

#include <glib/gstdio.h>
#include <string.h>

static char *fixture_folder;

static inline PawlStore *fixture_reopen(void) {
  g_autoptr(GError) error = NULL;
  g_autofree char *url = g_strdup_printf("sqlite:%s/pawl.db", fixture_folder);
  PawlStoreOptions options = {.url = url, .mode = PAWL_DB_READ_WRITE, .create = TRUE, .actor = "tester"};
  PawlStore *store = pawl_store_open(&options, &error);
  g_assert_no_error(error);
  return store;
}

static inline PawlStore *fixture_store(void) {
  fixture_folder = g_dir_make_tmp("pawl-test-XXXXXX", NULL);
  g_assert_nonnull(fixture_folder);
  return fixture_reopen();
}

static inline void fixture_store_close(PawlStore *store) {
  pawl_store_close(store);
  GDir *dir = g_dir_open(fixture_folder, 0, NULL);
  for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir)) {
    g_autofree char *path = g_build_filename(fixture_folder, name, NULL);
    g_unlink(path);
  }
  g_dir_close(dir);
  g_rmdir(fixture_folder);
  g_clear_pointer(&fixture_folder, g_free);
}

/* Applies a YAML text under the mark "test", with prune. */
static inline void fixture_apply(PawlStore *store, const char *yaml) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
  g_autoptr(PawlBundle) bundle = pawl_bundle_from_yaml(yaml, strlen(yaml), "test.yaml", issues);
  for (guint i = 0; i < issues->len && bundle == NULL; i++) {
    g_autofree char *text = pawl_issue_text(g_ptr_array_index(issues, i));
    g_test_message("%s", text);
  }
  g_assert_nonnull(bundle);
  PawlApplyOptions options = {.owner_mark = "test", .prune = TRUE};
  pawl_store_apply(store, bundle, &options, changes, &error);
  g_assert_no_error(error);
}
