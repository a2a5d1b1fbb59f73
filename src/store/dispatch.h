/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch and run leases: hand-out under the pools' gates, start, renewal, finish, expiry, recovery.
 *
 * The fence of an attempt is (run, attempt, lease version, token). The token is made by the worker and stored as a digest. Every call
 * below that acts on a lease compares the whole fence; one that differs changes nothing and is recorded as `attempt.late_report`. */
#pragma once
#include "store/store.h"

typedef struct {
  PawlId id;
  char *name;
  gint capacity;
  char *boot_id;
  gint64 pid;
} PawlSession;
/* Registers the worker's incarnation; `generation` rises with each session of that name. */
gboolean pawl_store_session_open(PawlStore *store, const PawlSession *session, gint64 *ret_generation, GError **error);
gboolean pawl_store_session_close(PawlStore *store, const PawlId *session, GError **error);

typedef struct {
  PawlId run, task, trigger /* none: zero */, token;
  gint attempt;
  gint64 lease_version;
  char *project, *task_name, *trigger_name /* NULL: none */;
  gint64 task_revision, nominal_at_ms /* 0: none */, queued_at_ms, expires_at_ms, acquired_at_ms;
  gint slots, laters;
  char *origin, *input /* NULL: none */;
} PawlGrant;
void pawl_grant_free(PawlGrant *grant);

typedef struct {
  guint handed_out, parked, too_late, cancelled;
  gboolean skipped; /* somebody else was inside a pool, or held a task's gate: ask again within milliseconds */
  gboolean more;    /* a bound of the pass was reached: ask again at once */
} PawlPassResult;
/* One pass over the pools: moves what is due from parked to ready, applies cancel intents and start_within, hands out at most `room`
 * attempts to the session in order of (order key, run id) within each pool, never over a pool's slots, a task's max_active or overlap
 * rule. Blocked rows are parked with the reason and hide nothing. Grants (PawlGrant *) are appended to `grants`. */
gboolean pawl_store_pull(
  PawlStore *store, const PawlId *session, guint room, gint64 lease_ms, GPtrArray *grants, PawlPassResult *ret_result, GError **error);

typedef struct {
  PawlId run, token;
  gint attempt;
  gint64 lease_version;
  char boot_id[40]; /* the runner's identity; empty: none (noop) */
  gint64 pid, start_ticks;
  gboolean accepted; /* set: FALSE = the fence fell, do not start */
} PawlStart;
/* Records that the work is about to be executed, for a batch. */
gboolean pawl_store_start(PawlStore *store, PawlStart *starts, guint n, GError **error);

typedef struct {
  PawlId run, token;
  gint attempt;
  gint64 lease_version;
  gboolean renewed;
  gboolean cancel_asked;
} PawlRenewal;
/* Renews the leases of a batch for `lease_ms` from the database's now; a row that was not renewed has lost its fence. Reads cancel
 * intents by the way. */
gboolean pawl_store_renew(PawlStore *store, const PawlId *session, gint64 lease_ms, PawlRenewal *renewals, guint n, GError **error);

typedef struct {
  PawlId run, token;
  gint attempt;
  gint64 lease_version;
  PawlMachineEvent event; /* SUCCEED, FAIL, TIME_OUT, CANCEL, LOSE, LATER */
  const char *reason;     /* NULL: none. Borrowed */
  gint exit_code, signal; /* -1: none; 0: none */
  gint64 started_at_ms;   /* for an attempt whose start was not recorded apart (noop); 0: as recorded */
  gint64 output_bytes, omitted_bytes, cpu_ms, max_rss_kib;
  gboolean accepted;      /* set: FALSE = late, recorded as such */
  PawlRunState run_state; /* set: the run's state afterwards */
} PawlFinish;
/* Ends a batch of attempts exactly once: history row, events, hot row gone; the retry rule may make another attempt (parked `retry`).
 * Frees what the limits of those tasks count and releases as many parked rows as there is room. */
gboolean pawl_store_finish(PawlStore *store, PawlFinish *finishes, guint n, GError **error);

typedef struct {
  PawlId run;
  gint attempt;
  gint64 lease_version, seq, at_ms;
  gint stream;
  const void *bytes;
  gsize n_bytes;
} PawlOutputRow;
/* Appends output under the fence of (run, attempt, lease version); rows of an attempt whose fence fell are dropped. Deletes the tail
 * chunks that fell out of the cap first. */
typedef struct {
  PawlId run;
  gint attempt;
  gint64 lease_version;
  gint64 from_seq, before_seq;
} PawlOutputDrop;
gboolean pawl_store_output_append(
  PawlStore *store, const PawlOutputRow *rows, guint n, const PawlOutputDrop *drops, guint n_drops, GError **error);

/* ---- recovery ---- */
typedef struct {
  PawlId run, session;
  gint attempt;
  gint64 lease_version;
  gboolean started;
  gboolean mine; /* of the session that asks: it may settle it before the lease has run out */
  char boot_id[40];
  gint64 pid, start_ticks;
} PawlOrphan;
/* Leases of sessions other than `mine` (NULL: of all), whose workers are gone: at most 128, after `after` (zero: from the start). */
gboolean pawl_store_orphans(PawlStore *store, const PawlId *mine, const PawlId *after, GArray *orphans /* PawlOrphan */, GError **error);
/* All leases of a session, for a worker that compares them with what it knows of. */
gboolean pawl_store_held(PawlStore *store, const PawlId *session, GArray *held /* PawlOrphan */, GError **error);
/* Settles one whose processes are proved dead: never started -> waiting again without using up an attempt; started -> lost, then the
 * retry rule. `ret_took` FALSE: it was settled or renewed meanwhile, or somebody else is at it. */
gboolean pawl_store_orphan_settle(PawlStore *store, const PawlOrphan *orphan, const char *reason, gboolean *ret_took, GError **error);
/* Drift: unfinished runs without exactly one hot row, hot rows without a run or with a finished one. Each is put aside as `manual` with
 * the reason. `ret_found` counts. */
gboolean pawl_store_drift(PawlStore *store, guint *ret_found, GError **error);
/* On a shared store: cancel intents whose runs have ended go, runs that wait in spite of one end, and what waits for nothing any more (its
 * pool was deleted, its pause or limit ended as it was parked) moves. Bounded; whatever somebody holds is left for the next time. */
gboolean pawl_store_sweep(PawlStore *store, guint *ret_settled, GError **error);

/* What there is to wait for, in one read: cancel intents on leased runs of this session are appended to `cancelled` (PawlId of runs). */
gboolean pawl_store_cancelled_leases(PawlStore *store, const PawlId *session, GArray *cancelled, GError **error);
/* Rows in ready that could start, roughly: 0 or more. And the earliest wake-up of parked rows. */
gboolean pawl_store_waiting(PawlStore *store, gint64 *ret_ready, gint64 *ret_next_wake_at_ms, GError **error);
