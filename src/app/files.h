/* SPDX-License-Identifier: Apache-2.0 */
/* The files that `pawl up` is given: -f and --crontab, read again on HUP. */
#pragma once
#include "cli/cli.h"
#include "store/publish.h"

/* Reads and applies all of them, each under its own ownership mark (its absolute path). A file with errors changes nothing of its own;
 * each error is logged. FALSE with CONFIG when any failed. `users` (char *) gets the users that system crontabs name: naming the file is
 * the consent. `starting`: no scheduler of ours runs yet. */
gboolean pawl_files_apply(PawlStore *store, const PawlUpOptions *options, gboolean starting, GPtrArray *users, GError **error);
/* Whether all of them can be read: asked before the store is made. CONFIG names the one that cannot. */
gboolean pawl_files_readable(const PawlUpOptions *options, GError **error);
/* Logs that the store has no tasks, or that it runs tasks of files that were not given. */
void pawl_files_say_others(PawlStore *store, const PawlUpOptions *options);
