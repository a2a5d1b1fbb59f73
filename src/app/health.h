/* SPDX-License-Identifier: Apache-2.0 */
/* How this process is, and the door that says so: the phase of its life, whether its threads live, and the checks of readiness.
 *
 * The door opens before the store and closes after it, so that a start that waits and a drain that takes its time can be seen. Any thread
 * may call anything here. */
#pragma once
#include "cli/cli.h"
#include "engine/engine.h"
#include "worker/worker.h"

typedef struct PawlHealth PawlHealth;
/* Opens the door, if one is asked for: CONFIG when its module is missing, UNAVAILABLE when its address can't be had. A default address
 * that can't be had is logged, and there is no door. `connections`: how many the door may keep open at once. */
PawlHealth *pawl_health_open(const PawlUpOptions *options, guint connections, GError **error);
void pawl_health_close(PawlHealth *health);
/* Logs where the door is. */
void pawl_health_say(const PawlHealth *health);
/* What keeps it from its work: "starting", "draining", a reason; copied. NULL: it is at work. */
void pawl_health_phase(PawlHealth *health, const char *phase);
/* Whom to look at. NULL, NULL before they go. */
void pawl_health_watch(PawlHealth *health, PawlEngine *engine, PawlWorker *worker);
/* The gauges were read. */
void pawl_health_measured(PawlHealth *health);
/* FALSE: a thread is stuck; `why` gets a sentence. Asks nobody, waits for nobody. */
gboolean pawl_health_alive(PawlHealth *health, GString *why);
