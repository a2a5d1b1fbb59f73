/* SPDX-License-Identifier: Apache-2.0 */
#include "base/module.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static char *folder_of_program(void) {
  g_autofree char *path = g_file_read_link("/proc/self/exe", NULL);
  return path != NULL ? g_path_get_dirname(path) : g_strdup(".");
}

static char *find(const char *name) {
  const char *only = getenv("PAWL_MODULE_PATH");
  g_autofree char *file = g_strdup_printf("pawl-%s.so", name), *folder = folder_of_program();
  if (only != NULL && *only != '\0') return g_build_filename(only, file, NULL);
  g_autofree char *beside = g_build_filename(folder, file, NULL), *installed = g_build_filename(folder, "..", "lib", "pawl", file, NULL);
  if (access(beside, R_OK) == 0) return g_steal_pointer(&beside);
  return access(installed, R_OK) == 0 ? g_canonicalize_filename(installed, NULL) : g_build_filename(PAWL_MODULE_DIR, file, NULL);
}

gconstpointer pawl_module_open(const char *name, GError **error) {
  g_autofree char *path = find(name);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "the %s module cannot be loaded (%s); install pawl again", name, dlerror());
    return NULL;
  }
  const PawlModule *module = dlsym(handle, "pawl_module");
  if (module == NULL || g_strcmp0(module->version, PAWL_VERSION) != 0) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s belongs to pawl %s, and this is pawl %s; install pawl again", path,
      module != NULL ? module->version : "of another kind", PAWL_VERSION);
    return NULL;
  }
  return module->table;
}
