/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's insides. Everything here belongs to its one thread, except what `Shared` holds and the functions that say so.
 *
 *   supervisor.c          the thread: commands, epoll, the timer
 *   supervisor_spawn.c    from a PawlWork to a runner that waits for GO
 *   supervisor_spare.c    runners that wait for an attempt
 *   supervisor_attempt.c  one attempt: what is asked of it, its pipes, and its end
 *   supervisor_runner.c   the conversation with its runner
 *   supervisor_rescue.c   ends what a lost or stuck runner left behind, on a thread of its own
 *   supervisor_report.c   PawlWork and PawlReport
 *
 * An attempt is over when three things are: the runner has said how it ended (or has been lost and its descendants are dead), the runner
 * has been reaped, and both output pipes are at their end or were drained for long enough. */
#pragma once
#include "base/pulse.h"
#include "worker/output.h"
#include "worker/runner_proto.h"
#include "worker/supervisor.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/stat.h>

typedef struct Attempt Attempt;

typedef enum { WATCH_WAKE, WATCH_TIMER, WATCH_CONTROL, WATCH_RUNNER, WATCH_INPUT, WATCH_STDOUT, WATCH_STDERR } WatchKind;
typedef struct {
  WatchKind kind;
  int fd; /* -1: closed */
  Attempt *attempt;
} Watch;

/* Bytes of output reports that the receiver has not freed yet. Shared with the receiver's thread. */
typedef struct {
  atomic_int refs;
  atomic_size_t bytes;
} Unread;

/* pawl's side of a runner: of one that serves an attempt, or of a spare one, which waits and knows nothing of any. */
typedef struct {
  PawlProcess process;
  Watch control, handle; /* their attempt is the one that it serves; NULL: it is spare */
} Runner;

struct Attempt {
  PawlSupervisor *supervisor;
  PawlFence fence;
  PawlWork *work; /* until it has a runner */
  Runner *runner; /* NULL: none yet, or it was given back */
  Watch input, out[2];
  PawlProcess process; /* the runner; pid 0: there never was one */
  pid_t work_pid;      /* 0: not started */

  GByteArray *unsent;                                        /* for the runner; NULL: nothing */
  gboolean wants_to_send;                                    /* epoll says when there is room */
  guint8 frame[sizeof(RunnerHead) + RUNNER_REPLY_MAX_BYTES]; /* from the runner, as far as it has arrived */
  gsize frame_bytes;
  GBytes *input_bytes;
  gsize input_at;
  PawlOutput *output;
  Unread *unread;

  gint64 lease_end_boot_ms, timeout_ms, kill_after_ms, drain_output_ms;
  gsize output_cap_bytes;
  gboolean go_wanted; /* go came before the runner was spawned */
  gboolean try_again; /* the runner could not be spawned for want of descriptors, processes or memory */
  gboolean went;      /* GO was sent: something of the work can have run */
  gboolean begins;    /* it has a runner, and that has not said yet what became of the start */
  gboolean stays;     /* the runner said that it can serve another */
  gboolean reaped;    /* the runner has ended and is no zombie, or was given back */
  gboolean rescuing;  /* a rescue thread is at work */
  gboolean finished;  /* ENDED was reported */
  PawlStop asked;     /* why it was asked to stop */
  PawlReport *ended;  /* what ENDED will say */

  /* Boot clock; 0: never. */
  gint64 output_at_ms; /* take the output */
  gint64 slow_reader_until_ms;
  gint64 drain_at_ms;         /* stop reading */
  gint64 timeout_guard_at_ms; /* the runner should have ended it for its time-out long ago */
  gint64 guard_at_ms;         /* the runner should have ended long ago */
};

typedef enum { COMMAND_SUBMIT, COMMAND_GO, COMMAND_RENEW, COMMAND_STOP, COMMAND_STOP_ALL, COMMAND_RESCUED, COMMAND_CLOSE } CommandKind;
typedef struct {
  CommandKind kind;
  PawlFence fence;
  PawlWork *work;
  gint64 lease_end_boot_ms;
  PawlStop why;
  gboolean at_once; /* RESCUED: all are dead */
  pthread_t thread; /* RESCUED */
} Command;

struct PawlSupervisor {
  PawlSupervisorOptions options;
  pthread_t thread;
  int epoll, null_fd, runner_fd;
  char *runner_path;
  char runner_fd_path[32]; /* of runner_fd */
  struct stat runner_stat;
  posix_spawnattr_t spawn_attributes;
  Watch wake, timer;
  gint64 timer_at_ms;   /* 0: not armed */
  GHashTable *attempts; /* &attempt->fence -> Attempt * */
  GQueue to_spawn;      /* Attempt * */
  guint n_begin;        /* attempts that begin */
  GQueue spares;        /* Runner *, the last used first */
  gint64 spare_at_ms;   /* boot clock: see to it then that there is one spare runner; 0: no need */
  GPtrArray *finished;  /* Attempt *, freed when the round is over */
  GPtrArray *dropped;   /* Runner *, likewise */
  guint n_rescues;
  struct sigaction former_sigchld; /* with reap_orphans */
  gint64 close_at_ms;              /* 0: open; else it ends then, whatever still lives */
  guint8 *buffer;                  /* for reading */
  PawlPulse pulse;

  struct {
    pthread_mutex_t lock;
    GQueue commands;     /* Command * */
    atomic_bool closing; /* rescues give up */
  } shared;
};

/* supervisor.c */
void pawl_supervisor_post(PawlSupervisor *supervisor, Command command); /* any thread */
gboolean pawl_supervisor_watch(PawlSupervisor *supervisor, Watch *watch, guint32 events);
void pawl_supervisor_rewatch(PawlSupervisor *supervisor, Watch *watch, guint32 events);
void pawl_supervisor_close_watch(PawlSupervisor *supervisor, Watch *watch);
/* One of the attempt's instants has been set. */
void pawl_supervisor_set_timer(PawlSupervisor *supervisor, gint64 at_ms);

/* supervisor_spawn.c. FALSE: it could not be spawned; `*ret_why` (freed by the caller) says why. */
gboolean pawl_attempt_spawn(Attempt *attempt, char **ret_why);
/* The errno stands for a want of descriptors, processes or memory, which passes. */
gboolean pawl_spawn_is_want(int error);

/* supervisor_spare.c */
Runner *pawl_spare_take(PawlSupervisor *supervisor, Attempt *attempt); /* NULL: there is none */
void pawl_spare_put(PawlSupervisor *supervisor, Runner *runner);       /* one that has served */
gboolean pawl_spare_is_wanted(const PawlSupervisor *supervisor);
void pawl_spare_lost(PawlSupervisor *supervisor, const Watch *watch); /* a spare one has something to say, but that it has ended */
void pawl_spare_settle(PawlSupervisor *supervisor);                   /* at spare_at_ms: one is left, or made */
void pawl_spare_drop_all(PawlSupervisor *supervisor);

/* supervisor_spawn.c: a spare runner; NULL: a want, or another failure, with errno. */
Runner *pawl_runner_new(PawlSupervisor *supervisor);
void pawl_runner_serve(Runner *runner, Attempt *attempt); /* NULL: it is spare */
void pawl_runner_free(PawlSupervisor *supervisor, Runner *runner);
void pawl_runner_kill(Runner *runner); /* and reaps it */

/* supervisor_runner.c */
void pawl_attempt_flush(Attempt *attempt); /* writes what is unsent, as far as it goes without waiting */
void pawl_attempt_send(Attempt *attempt, RunnerFrameType type, const void *payload, gsize bytes);
void pawl_attempt_read_runner(Attempt *attempt);
/* What ENDED will say; the first call counts. `detail` may be NULL. */
void pawl_attempt_set_ended(Attempt *attempt, PawlEnd end, PawlStop stop, const char *detail);

/* supervisor_attempt.c */
Attempt *pawl_attempt_new(PawlSupervisor *supervisor, PawlWork *work);
void pawl_attempt_free(Attempt *attempt);
void pawl_attempt_go(Attempt *attempt);
void pawl_attempt_renew(Attempt *attempt, gint64 lease_end_boot_ms);
void pawl_attempt_stop(Attempt *attempt, PawlStop why, gboolean at_once);
void pawl_attempt_guard_lease(Attempt *attempt);
void pawl_attempt_guard_timeout(Attempt *attempt); /* the work is being started, or has been */
void pawl_attempt_rescued(Attempt *attempt, gboolean all_dead);
void pawl_attempt_began(Attempt *attempt); /* its runner has said what became of the start, or never will */
void pawl_attempt_not_started(Attempt *attempt, PawlStop stop, const char *why);
void pawl_attempt_event(Attempt *attempt, Watch *watch, guint32 events);
/* Does what is due and returns when to come again; 0: never. */
gint64 pawl_attempt_act_on_time(Attempt *attempt, gint64 now_ms);
void pawl_attempt_write_input(Attempt *attempt);

/* supervisor_rescue.c */
gboolean pawl_rescue_start(Attempt *attempt);

/* supervisor_report.c */
PawlReport *pawl_report_new(PawlReportKind kind, const PawlFence *fence, gint64 at_ms);
PawlReport *pawl_report_new_output(const PawlFence *fence, const PawlOutputBatch *batch, Unread *unread);
Unread *pawl_unread_ref(Unread *unread); /* NULL: a new one */
void pawl_unread_unref(Unread *unread);
