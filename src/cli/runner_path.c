/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/runner_path.h"

#include <unistd.h>

char *pawl_runner_path(void) {
  g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *folder = self != NULL ? g_path_get_dirname(self) : g_strdup(".");
  g_autofree char *beside = g_build_filename(folder, "pawl-runner", NULL);
  if (access(beside, X_OK) == 0) return g_steal_pointer(&beside);
  g_autofree char *installed = g_build_filename(folder, "..", "libexec", "pawl", "pawl-runner", NULL);
  return g_canonicalize_filename(installed, NULL);
}
