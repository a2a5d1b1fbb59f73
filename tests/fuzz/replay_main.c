/* SPDX-License-Identifier: Apache-2.0 */
/* replay_main CORPUS_FOLDER: feeds each file to the fuzz target it is linked with, as one TAP test a file. */
#include "fuzz.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

static int by_name(gconstpointer a, gconstpointer b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

int main(int argc, char **argv) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GDir) folder = argc > 1 ? g_dir_open(argv[1], 0, &error) : NULL;
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  if (folder == NULL) {
    printf("Bail out! %s\n", error ? error->message : "usage: replay CORPUS_FOLDER");
    return 2;
  }
  for (const char *name; (name = g_dir_read_name(folder)) != NULL;) g_ptr_array_add(names, g_strdup(name));
  g_ptr_array_sort(names, by_name);
  printf("1..%u\n", names->len);
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_build_filename(argv[1], names->pdata[i], NULL), *bytes = NULL;
    gsize n_bytes = 0;
    gboolean read = g_file_get_contents(path, &bytes, &n_bytes, NULL);
    printf("# %s\n", (char *)names->pdata[i]);
    fflush(stdout); /* the name is out before a crash */
    if (read) LLVMFuzzerTestOneInput((const uint8_t *)bytes, n_bytes);
    printf("%s %u - %s\n", read ? "ok" : "not ok", i + 1, (char *)names->pdata[i]);
  }
  return 0;
}
