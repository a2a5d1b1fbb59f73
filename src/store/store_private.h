/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store room share. Everything here runs inside the caller's write transaction. */
#pragma once
#include "store/dispatch.h"

typedef struct PawlSpecCache PawlSpecCache; /* specs.c */

struct PawlStore {
  PawlDb *db;
  char *actor;
  PawlSpecCache *specs; /* made at first use; pawl_spec_cache_free() at close */
  gint schema_version;
  gint64 opened_us; /* by the monotonic clock */
  gboolean shared, serializable;
  char *replica; /* NULL: it claims nothing */
  gint64 claim_lease_ms;
  GArray *lost_claims;                     /* PawlLostClaim (claim.c): claims whose answer never came */
  PawlId retention_run, retention_subject; /* retention.c: how far its walks have come */
  guint pool_turn;                         /* pull.c: which pool is looked at first */
};
void pawl_spec_cache_free(PawlSpecCache *cache);

/* ---- store.c: short forms ---- */
/* The first column of the first row; 0 when there is no row. */
gboolean pawl_store_int(PawlStore *store, PawlSql sql, gint64 *ret_number, GError **error, const PawlValue *values, gsize n_values);
/* The same as text; NULL without error when there is no row or a null. Caller g_free()s. */
char *pawl_store_string(PawlStore *store, PawlSql sql, GError **error, const PawlValue *values, gsize n_values);
/* Appends the first column of all rows to `ids` (PawlId). */
gboolean pawl_store_ids(PawlStore *store, PawlSql sql, GArray *ids, GError **error, const PawlValue *values, gsize n_values);
/* An event that says who did it: data is {"actor": …} and the pairs of strings that follow, ended by NULL; a pair whose value is NULL is
 * left out. Inside the caller's transaction. */
gboolean pawl_store_act(PawlStore *store, const PawlId *subject, const char *kind, GError **error, ...) G_GNUC_NULL_TERMINATED;

/* Calls a public function of a shared store in a transaction of its own. `ret_id`: its answer; NULL: not wanted. */
gboolean pawl_store_call(PawlStore *store, PawlSql sql, PawlId *ret_id, GError **error, const PawlValue *values, gsize n_values);

/* ---- many.c ---- */
/* Rows of values for one statement. Values are borrowed until it ran (a query: until its rows are closed). Without rows nothing is asked
 * of the database; pawl_many_query() wants one at least. */
typedef struct {
  PawlSql sql;
  gsize n_values, n_rows;
  GArray *values;
} PawlMany;
PawlMany *pawl_many_new(PawlSql sql);
void pawl_many_free(PawlMany *many);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlMany, pawl_many_free)
void pawl_many_add(PawlMany *many, const PawlValue *values, gsize n_values);
gboolean pawl_many_exec(PawlStore *store, const PawlMany *many, gint64 *ret_changed /* NULL, or n_rows entries */, GError **error);
PawlRows *pawl_many_query(PawlStore *store, const PawlMany *many, GError **error);

/* ---- migrate.c ---- */
typedef enum { PAWL_MIGRATE_NEVER, PAWL_MIGRATE_UPGRADE /* a schema that exists */, PAWL_MIGRATE_CREATE } PawlMigrateHow;
/* Brings the schema to the end of `list`. CONFIG: newer than the list, or another build's; NEVER and older. NOT_FOUND: no schema and not
 * CREATE. BUSY: older, and another process schedules on it. */
gboolean pawl_store_migrate(PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, GError **error);
/* The same; `ret_ran` counts what this call ran. */
gboolean pawl_store_migrate_count(
  PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, guint *ret_ran, GError **error);
/* What a newer program's script said about older ones. `ret_serves`: the newest script that a program must know at least to use the store;
 * G_MAXINT64: it said nothing. */
gboolean pawl_schema_serves(PawlDb *db, gint64 number, gint64 *ret_serves, GError **error);

/* ---- claim.c ---- */
GArray *pawl_lost_claims_new(void);

/* ---- lock.c: rows that a shared store locks, in the one order; an embedded store has one writer and locks nothing ---- */
gboolean pawl_lock_project(PawlStore *store, const char *name, GError **error);
/* The schedule rows of a project, of a task (and the task's row before them), of one trigger. */
gboolean pawl_lock_schedules(PawlStore *store, const PawlId *project, GError **error);
gboolean pawl_lock_task(PawlStore *store, const PawlId *task, GError **error);
gboolean pawl_lock_schedule(PawlStore *store, const PawlId *trigger, GError **error);
typedef struct PawlRef PawlRef;
/* A trigger's row, or a task's with those of its triggers. */
gboolean pawl_lock_ref(PawlStore *store, const PawlRef *ref, GError **error);
/* The gates of the limited tasks that hold these leases: before anything that frees what a limit counts. */
gboolean pawl_lock_finish(PawlStore *store, const PawlMany *runs, GError **error);
/* Whether the gate of a task was free; it is held then. Always TRUE on an embedded store. */
gboolean pawl_try_task_gate(PawlStore *store, const PawlId *task, gboolean *ret_held, GError **error);

/* ---- run_create.c: the one place where a run comes into being ---- */
typedef struct {
  PawlId id;
  PawlId project, task, pool;
  gint64 task_revision;
  const PawlId *trigger;   /* NULL: none */
  gint64 trigger_revision; /* 0: none */
  const char *origin;
  gint64 nominal_at_ms; /* 0: none */
  gint64 queued_at_ms;
  gint64 start_at_ms;    /* 0 or past: ready at once; else parked `start_at` */
  gint64 start_by_at_ms; /* 0: none. start_within counted from the nominal (or queued, or start_at) time */
  gint priority, slots;
  gboolean trigger_born;
  const PawlId *retry_of;
  const char *requested_by, *input; /* NULL: none */
} PawlNewRun;
/* Run row, hot row and the events run.created and run.queued, for a batch. `ret_created` has n entries; FALSE: a run of that id exists and
 * nothing was written. */
gboolean pawl_store_runs_create(PawlStore *store, const PawlNewRun *runs, guint n, gboolean *ret_created, GError **error);
gboolean pawl_store_run_create(PawlStore *store, const PawlNewRun *run, gboolean *ret_created, GError **error);
/* The pool's id by (project, name). FALSE with NOT_FOUND. */
gboolean pawl_store_pool_id(PawlStore *store, const PawlId *project, const char *name, PawlId *ret_pool, GError **error);

/* ---- pause.c ---- */
/* Ends every pause of a trigger or a task whose end has come, as resume without catch-up does. A transaction of its own. */
gboolean pawl_store_resume_expired(PawlStore *store, GError **error);

/* ---- finish.c ---- */
/* Ends an attempt that waits in ready or parked (cancelled, too late): history row, events, hot row and cancel intent gone, room given
 * back. `ret_found` FALSE: it waits nowhere. */
gboolean pawl_store_end_waiting(
  PawlStore *store, const PawlId *run, PawlMachineEvent event, const char *reason, gboolean *ret_found, GError **error);
/* On a shared store a lease of somebody else is settled only once it has run out by the server's clock. Inside the transaction that settles
 * it; `ret_take` FALSE: it was renewed, or somebody else is at it. */
gboolean pawl_store_may_settle(PawlStore *store, const PawlOrphan *orphan, gboolean *ret_take, GError **error);
/* Something a limit of the task counts went away, or its limits changed: moves as many of its parked rows (limit, overlap) back to ready
 * as there is room for, at most 256. */
gboolean pawl_store_task_release(PawlStore *store, const PawlId *task, GError **error);

/* Moves a parked attempt back to ready. */
gboolean pawl_store_unpark(PawlStore *store, const PawlId *run, GError **error);

/* ---- lookup.c: names to ids ---- */
struct PawlRef {
  PawlId project, task, trigger /* zero: the reference is a task */;
  gint64 task_revision, trigger_revision;
  gboolean task_archived, trigger_archived, task_paused;
  char *task_name, *trigger_name; /* NULL: the reference is a task */
};
void pawl_ref_clear(PawlRef *ref);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PawlRef, pawl_ref_clear)
/* `project` NULL: "default". `reference`: TASK or TASK/TRIGGER. NOT_FOUND with the nearest name; what is archived is found only with
 * `archived_too`. `ret` must be cleared even on failure. */
gboolean pawl_store_lookup(
  PawlStore *store, const char *project, const char *reference, gboolean archived_too, PawlRef *ret, GError **error);
gboolean pawl_store_lookup_project(PawlStore *store, const char *project, PawlId *ret_project, GError **error);
/* Sets NOT_FOUND with the nearest of the names that the statement lists; always FALSE. */
gboolean pawl_store_not_found(
  PawlStore *store, const char *kind, const char *name, PawlSql names_sql, GError **error, const PawlValue *values, gsize n);
/* Of `names` (char *) the one that a mistyped `name` most likely meant, or NULL. Borrowed from the array. */
const char *pawl_nearest(const char *name, const GPtrArray *names);

/* ---- span.c: how many occurrences lie in a stretch of time ---- */
#define PAWL_SPAN_WALK_MAX 20000 /* counted exactly up to here; beyond, the count is a lower bound (`every` is always exact) */
typedef struct {
  gint64 from_ms, to_ms, count;
  gboolean exact;
} PawlSpan;
/* The occurrences of `timing` from `cursor_ms` (which counts, whatever the timing says) up to and including `until_ms`. FALSE: none,
 * cursor_ms lies after it. */
gboolean pawl_span(const PawlTiming *timing, gint64 cursor_ms, gint64 until_ms, PawlSpan *ret_span);

/* ---- schedule.c: the one way in which people's acts move a schedule ---- */
typedef struct {
  PawlId trigger, task, project;
  gint64 trigger_revision, task_revision, cursor_ms /* 0: none */, due_at_ms, last_scheduled_ms, last_admitted_ms, first_claimed_ms,
    made_up, state_version;
  gint64 paused_at_ms, pause_until_ms; /* of the trigger itself; 0: not paused, until resumed */
  char *pause_reason, *paused_by;
  gboolean armed, quarantined, task_paused, archived /* it or its task */;
  gboolean clear_quarantine; /* asks pawl_schedule_write() to forget it */
} PawlSchedule;
void pawl_schedule_clear(PawlSchedule *schedule);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PawlSchedule, pawl_schedule_clear)
/* `schedule` is zeroed by the caller and cleared by him in any case. */
gboolean pawl_schedule_read(PawlStore *store, const PawlId *trigger, PawlSchedule *schedule, GError **error);
/* The spec of a trigger's revision, as stored. */
PawlTriggerSpec *pawl_schedule_spec(PawlStore *store, const PawlId *trigger, gint64 revision, GError **error);
/* Puts what is unsettled up to `until_ms` (inclusive) into the ledger, raises the high-water mark over it, and takes the cursor away.
 * Nothing when the cursor lies later. `spec`: by which the cursor was computed; the outcome is `paused`, `disabled` or `quarantined`
 * where that is why it did not run, else `otherwise`. */
gboolean pawl_schedule_pass_over(PawlStore *store, PawlSchedule *schedule, const PawlTriggerSpec *spec, gint64 until_ms,
  const char *otherwise, const char *reason, GError **error);
/* Sets the cursor to the first occurrence after the greater of `after_ms` and the high-water mark, or none. */
void pawl_schedule_aim(PawlSchedule *schedule, const PawlTriggerSpec *spec, gint64 after_ms);
/* Sets `armed` from all that has a say: cursor, spec, pauses, quarantine, archived. */
void pawl_schedule_arm(PawlSchedule *schedule, const PawlTriggerSpec *spec);
/* Writes it if nobody else did since it was read (else RACED); bumps state_version and claim_version and ends the claim. */
gboolean pawl_schedule_write(PawlStore *store, const PawlSchedule *schedule, GError **error);

/* ---- pause.c: inside the caller's transaction, for pauses that end by themselves too ---- */
/* Ends the pause (and the quarantine) of a trigger. Occurrences up to `until_ms` (inclusive: the clock, or the end of the pause - 1) go
 * to the ledger as `paused`, unless `catch_up` leaves them to the misfire rule. A trigger whose task is paused stays disarmed. Records
 * trigger.resumed. */
gboolean pawl_store_resume_trigger(PawlStore *store, const PawlId *trigger, gint64 until_ms, gboolean catch_up, GError **error);
/* The same for a task and those of its triggers that are not paused themselves; its runs parked `paused` become ready. Records
 * task.resumed. */
gboolean pawl_store_resume_task(PawlStore *store, const PawlId *task, gint64 until_ms, gboolean catch_up, GError **error);

/* ---- cancel.c ---- */
/* Inside the caller's transaction: cancels up to `limit` unfinished runs of a task that have no intent yet; waiting ones end, the others
 * get an intent. `ret_more`: there are others. */
gboolean pawl_store_cancel_some(
  PawlStore *store, const PawlId *task, const char *reason, guint limit, guint *ret_cancelled, gboolean *ret_more, GError **error);
