/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the link share. Everything here runs on the link's thread, unless it says otherwise. */
#pragma once
#include "base/pulse.h"
#include "store/schedules.h"
#include "worker/worker.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct PawlRenewer PawlRenewer;

typedef enum { PAWL_JOB_ATTEMPT, PAWL_JOB_NOOP, PAWL_JOB_MAIL } PawlJobKind;

/* One attempt (or mail) from its grant to its recorded end. */
typedef struct {
  PawlJobKind kind;
  PawlFence fence;
  PawlGrant *grant; /* MAIL: NULL */
  char *label;      /* "backup/nightly" */
  gboolean begins;  /* it was handed to the supervisor, and its start is not recorded yet */
  gboolean ready;   /* the runner is up; its start is to be recorded */
  gboolean done;    /* it ended, and its finish is to be recorded */
  PawlProcess runner;
  GPtrArray *chunks;             /* PawlOutputChunk * not yet stored */
  gint64 drop_from, drop_before; /* stored chunks to be deleted; 0, 0: none */
  PawlReport *ended;             /* NULL: it runs, or is a noop */
  PawlFinish finish;
  char *reason;             /* of the finish */
  gint64 lease_end_boot_ms; /* as granted: a start that comes later is none */
  gint64 started_at_ms;
  char *mail_to; /* NULL: nobody */
  PawlMailWhen mail_when;
  gboolean retry_later; /* exit code 75 puts it off */
} PawlJob;
void pawl_job_free(PawlJob *job);

struct PawlWorker {
  PawlWorkerOptions options; /* strings are copies */
  PawlStore *store;
  PawlSupervisor *supervisor;
  PawlRenewer *renewer;
  PawlId session;
  pthread_t thread;
  gboolean started;
  int wake_fd, idle_fd;
  atomic_bool draining, stopping, work_waits;
  gint64 stop_by_mono_ms; /* stopping: what cannot be recorded by then is left to the next start's recovery */
  atomic_bool drain_seen;
  atomic_uint active, running; /* jobs; those of them whose processes may live */
  pthread_mutex_t lock;
  GQueue inbox;                 /* PawlReport *; under `lock` */
  GArray *fresh;                /* PawlFence: handed out, and the renewer is still to be told */
  gboolean pulled;              /* and wake_at_ms is still to be read anew */
  GHashTable *jobs;             /* PawlJob by run id */
  gint64 wake_at_ms;            /* wall clock; 0: nothing is planned */
  gint64 skipped_ms;            /* the wait after a pass that met somebody inside; 0: it met nobody */
  gint64 pull_mono_ms;          /* pulls nothing before; 0: no such wait */
  gint64 compare_mono_ms;       /* settle_unknown: not before */
  gint64 put_off_until_mono_ms; /* ends and output wait for starts until then; 0: they do not */
  gint64 retry_ms;              /* the store failed: wait so long */
  PawlPulse pulse;
  guint64 connection; /* generation of the last one counted */
};

/* ---- link_work.c ---- */
/* The process that executes an attempt. FAIL with INVALID: it cannot be started, and the message says why. The lease's end is the
 * caller's to set. */
PawlWork *pawl_link_work(const PawlWorkerOptions *options, const PawlGrant *grant, const PawlTaskSpec *spec, GError **error);
/* ---- link_end.c ---- */
/* Fills job->finish from job->ended. */
void pawl_link_judge(PawlJob *job);
/* Counts it, too. */
void pawl_link_log_end(const PawlJob *job);
/* ---- link_mail.c ---- */
/* The mail about an ended attempt, or NULL when none is due. */
PawlWork *pawl_link_mail(PawlWorker *worker, const PawlJob *job);
/* ---- link_store.c: what goes to the store, in batches; FALSE: the store failed and all of it is still to be done ---- */
gboolean pawl_link_record_starts(PawlWorker *worker, GError **error);
gboolean pawl_link_record_output(PawlWorker *worker, GError **error);
gboolean pawl_link_record_ends(PawlWorker *worker, GError **error);

/* ---- renewer.c: any thread ---- */
PawlRenewer *pawl_renewer_new(PawlWorker *worker, GError **error);
void pawl_renewer_add(PawlRenewer *renewer, const PawlFence *fence);
void pawl_renewer_remove(PawlRenewer *renewer, const PawlFence *fence);
gint64 pawl_renewer_overdue_ms(const PawlRenewer *renewer);
void pawl_renewer_free(PawlRenewer *renewer);
/* How much sooner than the lease's end everything is dead: a tenth, at most 2 s. */
gint64 pawl_lease_margin_ms(gint64 lease_ms);
