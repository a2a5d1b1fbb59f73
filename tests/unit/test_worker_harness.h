/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor's tests share: a supervisor whose reports are collected, works made of shell scripts, and waiting for conditions. */
#pragma once
#include "base/clock.h"
#include "worker/supervisor.h"

#include <glib.h>

#define DEADLINE_MS 20000 /* of every wait: long enough for a loaded machine, only failures take it */

typedef struct Host Host;
Host *host_new(void);                  /* answers READY with go */
Host *host_new_with(const char *path); /* another pawl-runner */
Host *host_new_as_init(void);          /* the same with reap_orphans */
void host_hold(Host *host);            /* from now on it does not */
PawlSupervisor *host_supervisor(Host *host);
void host_free(Host *host);

/* A work of its own run: PATH and the run's marks as environment, cwd /, kill_after 10 s, no lease, 64 KiB of output. */
PawlWork *work_new(char *const *argv);
PawlWork *work_sh(const char *script); /* sh -c script */
void work_setenv(PawlWork *work, const char *entry);
void work_secret(PawlWork *work, const char *secret);

/* Submits and takes the work. */
PawlFence host_submit(Host *host, PawlWork *work);
/* The attempt's first report of that kind; waits, and fails the test at the deadline. Stays the host's. */
const PawlReport *host_wait(Host *host, const PawlFence *fence, PawlReportKind kind);
/* NULL when none has come yet. */
const PawlReport *host_peek(Host *host, const PawlFence *fence, PawlReportKind kind);
guint host_count(Host *host, const PawlFence *fence, PawlReportKind kind);
/* submit, go, and wait for the end. */
const PawlReport *host_run(Host *host, PawlWork *work);
/* What would be stored of a stream now: chunks in order of seq, without those that were dropped. 0: all streams. */
GString *host_output(Host *host, const PawlFence *fence, PawlStream stream);
/* All stored chunks, in order of seq; the array is the caller's, the chunks are the host's. */
GPtrArray *host_chunks(Host *host, const PawlFence *fence);
gsize host_most_stored_bytes(Host *host, const PawlFence *fence);
/* Waits until the stored stdout contains `text`. */
void host_wait_output(Host *host, const PawlFence *fence, const char *text);

/* Living processes (no zombies) whose environment holds PAWL_RUN_ID of this run. */
guint marked_processes(const PawlFence *fence);
/* Living processes whose command line contains `text`. */
guint named_processes(const char *text);
/* Zombies below this process. */
guint own_zombies(void);
/* Children of this process, alive or not. */
guint own_children(void);
/* Waits until it is true; fails at the deadline. */
#define wait_for(condition)                                                                                                                \
  do {                                                                                                                                     \
    gint64 until_ms_ = pawl_clock_mono_ms() + DEADLINE_MS;                                                                                 \
    while (!(condition)) {                                                                                                                 \
      if (pawl_clock_mono_ms() > until_ms_) g_error("%s:%d: never came true: %s", __FILE__, __LINE__, #condition);                         \
      g_usleep(2000);                                                                                                                      \
    }                                                                                                                                      \
  } while (0)

/* A name that no other process has, for argv[0] or an argument of a descendant. Freed by the caller. */
char *unique_name(const char *prefix);
const char *runner_path(void);

/* Reports with these asserts show what they are about. */
void assert_exited(const PawlReport *ended, gint code);
void assert_signalled(const PawlReport *ended, gint signal);
/* All that was written to a stream. */
void assert_output(Host *host, const PawlReport *ended, PawlStream stream, const char *expected);
