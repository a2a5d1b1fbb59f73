/* SPDX-License-Identifier: Apache-2.0 */
/* worker: executes attempts. Three threads beside each other, so that none can delay another:
 *
 *   link        talks to the store: pulls attempts, records starts, output and ends, in batches (worker.c, link_*.c)
 *   supervisor  starts, watches and stops processes; never touches the store (supervisor.h)
 *   renewer     renews the leases of what runs, on a connection of its own (renewer.c)
 *
 * The link holds a table of the jobs it was given; the renewer gets a copy of their fences. What the store does not take (disk full) is
 * kept and offered again until it does: nothing that ended is forgotten while the process lives. */
#pragma once
#include "store/dispatch.h"
#include "worker/supervisor.h"

typedef struct {
  const char *url, *actor;
  const char *name; /* of the session: host name or --name */
  const char *runner_path;
  gint slots; /* 0: pulls nothing */
  gint64 lease_ms;
  char **allow_users; /* NULL: none. "*": any */
} PawlWorkerOptions;

typedef struct PawlWorker PawlWorker;
/* Opens the connections and registers the session. */
PawlWorker *pawl_worker_new(const PawlWorkerOptions *options, GError **error);
const PawlId *pawl_worker_session(const PawlWorker *worker);
void pawl_worker_start(PawlWorker *worker);
/* Something may wait, or may be to cancel: look at once. Any thread. */
void pawl_worker_wake(PawlWorker *worker);
/* Pulls nothing any more. Any thread. */
void pawl_worker_drain(PawlWorker *worker);
/* Attempts (and mails) under way. Any thread. `fd` polls readable whenever it falls to 0 while draining. */
guint pawl_worker_active(PawlWorker *worker);
/* Those of them that have not ended: the others only wait for the store. Any thread. */
guint pawl_worker_running(PawlWorker *worker);
int pawl_worker_idle_fd(const PawlWorker *worker);
/* Ends what runs: lost, reason `drained`. `at_once`: KILL without TERM. Any thread. */
void pawl_worker_stop_all(PawlWorker *worker, gboolean at_once);
/* For how long one of its threads has been stuck, and which ("link" …; static); 0: all live. Any thread. */
gint64 pawl_worker_overdue_ms(const PawlWorker *worker, const char **ret_thread);
/* Joins the threads, ends whatever still lives, closes the session. */
void pawl_worker_free(PawlWorker *worker);
