/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor: one thread with an epoll loop that starts, watches and stops the processes of attempts. It never touches the store, so
 * a slow disk never blocks a child that writes output, and never delays a stop.
 *
 *   link thread  --submit, go, renew, stop-->  supervisor  --reports-->  link thread
 *
 * Each attempt has a runner of its own (pawl-runner, runner_main.c): a small static process between pawl and the work. The runner holds
 * the lease's end on CLOCK_BOOTTIME, is child subreaper, and ends every descendant at the lease's end, at a stop, or at once when its
 * control socket closes. So work never outlives the worker, whatever happens to it (G6). A runner whose work has ended by itself and
 * has left nothing behind may serve another attempt later: a runner's identity tells attempts apart that are running, not that were.
 *
 * An attempt's life: submit (the runner is spawned and waits) -> PAWL_REPORT_READY with the runner's identity -> the link records the
 * start durably -> go (the work is executed) -> STARTED -> OUTPUT... -> ENDED. Before `go` nothing of the work has run. Exactly one ENDED
 * follows each submit, and nothing of the attempt lives when it is reported (except what `keep_background` allows). READY is left out
 * when there is no runner (no process, no memory, a stop before it was spawned), STARTED when the work could not be executed. A second
 * submit with the fence of one that has not ended is dropped without a report.
 *
 * Ownership: a PawlWork passes to the supervisor; a PawlReport passes to the receiver of the report, who frees it once its content is
 * stored: as long as it holds OUTPUT reports, an attempt that has filled its head hands out no more (its tail goes on turning over here),
 * so a slow store bounds memory instead of filling it. All functions are thread-safe and never wait, except pawl_process_end_attempt()
 * and pawl_supervisor_free(). */
#pragma once
#include "base/id.h"

#include <glib.h>
#include <sys/types.h>

typedef struct {
  PawlId run;
  gint attempt;
  gint64 lease_version;
  PawlId token;
} PawlFence;
gboolean pawl_fence_equal(const PawlFence *a, const PawlFence *b);

/* A process that survives pid reuse: all three must match. */
typedef struct {
  char boot_id[40];
  pid_t pid;
  guint64 start_ticks; /* field 22 of /proc/PID/stat */
} PawlProcess;
gboolean pawl_process_identify(pid_t pid, PawlProcess *ret_process); /* FALSE: no such process */
gboolean pawl_process_alive(const PawlProcess *process);             /* same boot, pid and start time, and no zombie */
/* Ends what is left of an attempt whose worker is gone: the runner (if it is alive, by all three marks), all its descendants, and any
 * process of this user whose environment holds PAWL_RUN_ID=run and PAWL_ATTEMPT=attempt (a descendant that escaped). Waits until none
 * lives, at most `timeout_ms`. `process` may be NULL. TRUE when nothing lives any more. */
gboolean pawl_process_end_attempt(const PawlProcess *process, const PawlId *run, gint attempt, gint64 timeout_ms);

typedef struct {
  PawlFence fence;
  char *label; /* for the log: "backup/nightly" */
  char **argv; /* argv[0] is looked up in the PATH of envp when it has no slash */
  char **envp; /* complete */
  char *cwd;
  GBytes *input;        /* stdin; NULL: empty */
  gint umask;           /* -1: inherit */
  gboolean change_user; /* then: */
  uid_t uid;
  gid_t gid;
  gid_t *groups;
  gsize n_groups;
  gint64
    lease_end_boot_ms;  /* CLOCK_BOOTTIME: at this instant all of it is killed; TERM min(kill_after, 2 s) before, but not before the last
                               third of what is left when it is set. 0: no lease (mail) */
  gint64 timeout_ms;    /* 0: none; counted from the start of the work */
  gint64 kill_after_ms; /* between TERM and KILL */
  gboolean keep_background; /* processes that outlive a main process that ended by itself are left alone; else they get TERM and, after
                               min(kill_after, 2 s), KILL */
  gint64 drain_output_ms;   /* after the main process has ended, output is read on for so long when the pipe stays open */
  GPtrArray *secrets;       /* char *: replaced by *** in the output, also across chunk borders; those shorter than 4 bytes are not */
  gsize output_cap_bytes;   /* half is kept from the head, half from the tail; 0: none is kept */
} PawlWork;
void pawl_work_free(PawlWork *work);

typedef enum {
  PAWL_STREAM_STDOUT = 1,
  PAWL_STREAM_STDERR = 2,
  PAWL_STREAM_NOTE = 3 /* pawl's own words: "[12345 bytes left out]" */
} PawlStream;
typedef struct {
  gint64 seq;   /* 1, 2, … within the attempt, in the order of arrival; a tail chunk keeps its place */
  gint64 at_ms; /* wall clock */
  PawlStream stream;
  GBytes *bytes; /* at most 16 KiB */
} PawlOutputChunk;

typedef enum {
  PAWL_STOP_NONE,
  PAWL_STOP_CANCEL,  /* asked for */
  PAWL_STOP_TIMEOUT, /* ran longer than timeout_ms */
  PAWL_STOP_LEASE,   /* the lease ended, or the fence fell */
  PAWL_STOP_DRAIN,   /* pawl stops */
} PawlStop;

typedef enum {
  PAWL_END_EXITED,      /* code */
  PAWL_END_SIGNALLED,   /* signal */
  PAWL_END_NOT_STARTED, /* the work could not be started: `detail` says why ("cwd /x: No such file or directory") */
  PAWL_END_RUNNER_LOST, /* the runner itself was killed; all descendants have been ended since */
} PawlEnd;

typedef enum { PAWL_REPORT_READY, PAWL_REPORT_STARTED, PAWL_REPORT_OUTPUT, PAWL_REPORT_ENDED } PawlReportKind;
typedef struct {
  PawlReportKind kind;
  PawlFence fence;
  PawlProcess runner; /* READY */
  pid_t work_pid;     /* STARTED */
  gint64 at_ms;       /* wall clock of STARTED and ENDED */
  GPtrArray *
    chunks; /* OUTPUT: PawlOutputChunk *. Live head chunks at once (within 100 ms); beyond the head, the tail is sent live too, and `drop_before_seq` says
                           which earlier tail chunks are to be forgotten, so that no more than the cap stays stored */
  gint64 drop_from_seq, drop_before_seq; /* OUTPUT: chunks with drop_from_seq <= seq < drop_before_seq are to be deleted; 0, 0: none */
  PawlEnd end;                           /* ENDED: */
  PawlStop stop;                         /* why pawl stopped it, NONE when it ended by itself */
  gint code, signal;
  gboolean killed;          /* KILL was needed */
  gboolean left_background; /* processes outlived it (and were ended, or kept) */
  gint64 output_bytes;      /* all that it wrote */
  gint64 omitted_bytes;     /* of which so many were not kept */
  gint64 cpu_ms, max_rss_kib;
  gboolean try_again; /* NOT_STARTED: nothing of it ran, for want of descriptors, processes or memory: it can be started later */
  char *detail;       /* NOT_STARTED: why, for people; else NULL */
} PawlReport;
void pawl_report_free(PawlReport *report);

typedef struct PawlSupervisor PawlSupervisor;
typedef struct {
  const char *runner_path;                           /* pawl-runner */
  void (*report)(PawlReport *report, gpointer data); /* called on the supervisor's thread; must not wait; takes ownership */
  gpointer data;
  gboolean reap_orphans; /* pawl is PID 1: every child of the process is reaped (by the kernel: SIGCHLD gets
                                                       SA_NOCLDWAIT until the supervisor is freed), so wait(2) gives no statuses */
} PawlSupervisorOptions;
/* PAWL_ERROR_CONFIG: no such runner; PAWL_ERROR_UNAVAILABLE: no descriptors, no thread, or a kernel before Linux 5.4. */
PawlSupervisor *pawl_supervisor_new(const PawlSupervisorOptions *options, GError **error);
void pawl_supervisor_submit(PawlSupervisor *supervisor, PawlWork *work);
void pawl_supervisor_go(PawlSupervisor *supervisor, const PawlFence *fence);
/* Unknown fences are ignored in the three below: the attempt may have ended meanwhile. */
void pawl_supervisor_renew(PawlSupervisor *supervisor, const PawlFence *fence, gint64 lease_end_boot_ms);
/* TERM, and KILL after kill_after. The first reason stays; before `go` the end is NOT_STARTED. */
void pawl_supervisor_stop(PawlSupervisor *supervisor, const PawlFence *fence, PawlStop why);
void pawl_supervisor_stop_all(PawlSupervisor *supervisor, PawlStop why, gboolean at_once /* KILL without TERM */);
/* For how long its thread has been stuck; 0: it lives. */
gint64 pawl_supervisor_overdue_ms(const PawlSupervisor *supervisor);
/* Ends whatever still lives at once (KILL; reported with PAWL_STOP_DRAIN), joins the thread, frees. Waits for what can't die (a dead
 * disk) for 10 s at most. */
void pawl_supervisor_free(PawlSupervisor *supervisor);
