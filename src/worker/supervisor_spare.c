/* SPDX-License-Identifier: Apache-2.0 */
/* Runners that wait for an attempt: one is spawned ahead, so that a start does not wait until the kernel has made a process, and those that
 * have served come back. While many short runs start they serve one after the other; afterwards one is left. */
#include "worker/supervisor_private.h"

#include "base/clock.h"

#define SPARES_MAX 16
#define MAKE_LATER_MS 20    /* so long after a start the next spare is made: the start's own work comes first */
#define LEAVE_LATER_MS 1000 /* so long more than one is kept */

static void settle_in(PawlSupervisor *supervisor, gint64 ms) {
  gint64 at_ms = pawl_clock_boot_ms() + ms;
  if (supervisor->spare_at_ms && supervisor->spare_at_ms <= at_ms) return;
  supervisor->spare_at_ms = at_ms;
  pawl_supervisor_set_timer(supervisor, at_ms);
}

Runner *pawl_spare_take(PawlSupervisor *supervisor, Attempt *attempt) {
  Runner *runner = g_queue_pop_head(&supervisor->spares);
  if (runner) pawl_runner_serve(runner, attempt);
  if (g_queue_is_empty(&supervisor->spares)) settle_in(supervisor, MAKE_LATER_MS);
  return runner;
}

gboolean pawl_spare_is_wanted(const PawlSupervisor *supervisor) {
  return !supervisor->close_at_ms && supervisor->spares.length < SPARES_MAX;
}

void pawl_spare_put(PawlSupervisor *supervisor, Runner *runner) {
  pawl_runner_serve(runner, NULL);
  g_queue_push_head(&supervisor->spares, runner);
  if (supervisor->spares.length > 1) settle_in(supervisor, LEAVE_LATER_MS);
}

static void drop(PawlSupervisor *supervisor, Runner *runner) {
  g_queue_remove(&supervisor->spares, runner);
  pawl_runner_kill(runner);
  pawl_supervisor_close_watch(supervisor, &runner->handle);
  pawl_supervisor_close_watch(supervisor, &runner->control);
  g_ptr_array_add(supervisor->dropped, runner); /* this round can still hold events of it */
}

void pawl_spare_lost(PawlSupervisor *supervisor, const Watch *watch) {
  for (GList *at = supervisor->spares.head; at; at = at->next) {
    Runner *runner = at->data;
    if (watch != &runner->control && watch != &runner->handle) continue;
    drop(supervisor, runner);
    settle_in(supervisor, MAKE_LATER_MS);
    return;
  }
}

void pawl_spare_settle(PawlSupervisor *supervisor) {
  supervisor->spare_at_ms = 0;
  while (supervisor->spares.length > 1) drop(supervisor, g_queue_peek_tail(&supervisor->spares));
  if (supervisor->close_at_ms || !g_queue_is_empty(&supervisor->spares)) return;
  Runner *runner = pawl_runner_new(supervisor);
  if (runner) g_queue_push_head(&supervisor->spares, runner); /* a failure is no matter: the next start sees to itself */
}

void pawl_spare_drop_all(PawlSupervisor *supervisor) {
  while (!g_queue_is_empty(&supervisor->spares)) drop(supervisor, g_queue_peek_head(&supervisor->spares));
}
