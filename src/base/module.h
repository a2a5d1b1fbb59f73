/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: parts of pawl that are mapped only where they are used, so that a node on SQLite carries neither libpq nor libevent.
 *
 * A module is pawl-NAME.so beside the executable, else in lib/pawl beside its folder, else where Meson installs it. PAWL_MODULE_PATH names another folder,
 * which is then the only one. It exports one PawlModule under the name pawl_module, and is never unloaded. */
#pragma once
#include <glib.h>

typedef struct {
  const char *version; /* must be that of the program */
  gconstpointer table; /* what the module offers; its type is known to who opens it */
} PawlModule;

/* The table of a module. CONFIG, naming the path: it is missing, cannot be loaded, or belongs to another version. */
gconstpointer pawl_module_open(const char *name, GError **error);
