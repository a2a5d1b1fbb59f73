/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon: `pawl up`. Wires store, engine and worker together and lives on signals.
 *
 * Order of the start: settings (before anything is opened), the health door, the hold on the store, migrations, files, recovery, worker,
 * engine. Order of the stop: claiming ends first, then what runs is drained, then connections close and the hold falls, and the door is
 * last. */
#pragma once
#include "cli/cli.h"

/* Runs until it is told to stop. Returns the exit code. */
int pawl_daemon_up(const PawlUpOptions *options);
