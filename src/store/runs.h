/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: asking for one, cancelling, retrying; and reading history: lists, events, output, status, explanations. Reads take no lock. */
#pragma once
#include "store/store.h"

/* ---- acts ---- */
typedef struct {
  const char *project, *task; /* NOT_FOUND with the nearest name */
  const char *input;          /* NULL: the task's own */
  const char *origin;         /* "manual", "api" */
  gint64 start_at_ms;         /* 0: now */
  const gint *priority;       /* NULL: the task's */
} PawlEnqueue;
/* Run row + ready (or parked) row + two events, durable when it returns. Rings nothing: the caller does. */
gboolean pawl_store_enqueue(PawlStore *store, const PawlEnqueue *request, PawlId *ret_run, GError **error);
/* An intent for each unfinished run named: a run, or all unfinished runs of a task. What waits ends at once in this call; what runs is
 * stopped by its worker. CONFLICT when the run has ended. */
gboolean pawl_store_cancel_run(PawlStore *store, const PawlId *run, const char *reason, GError **error);
gboolean pawl_store_cancel_task(
  PawlStore *store, const char *project, const char *task, const char *reason, guint *ret_cancelled, GError **error);
/* A new run (origin retry, retry_of) of a finished one, with the same input and its task's newest revision. CONFLICT while it is
 * unfinished. */
gboolean pawl_store_retry(PawlStore *store, const PawlId *run, PawlId *ret_run, GError **error);

/* ---- one run ---- */
typedef struct {
  PawlId id, task_id, trigger_id /* zero: none */, retry_of;
  char *project, *task, *trigger /* NULL */, *origin, *requested_by /* NULL */, *reason /* NULL */;
  gint64 nominal_at_ms, queued_at_ms, started_at_ms, finished_at_ms; /* 0: none */
  PawlRunState state;
  gint attempts, exit_code /* -1: none */, signal, task_revision;
} PawlRunRow;
void pawl_run_row_free(PawlRunRow *row);
/* `text`: a full id, its unique last 8 (or more) characters, or TASK (its newest run) or TASK/TRIGGER. NOT_FOUND, or CONFLICT when
 * several fit (named). A task's name wins over an id's end; an id's end is looked for among the newest 100,000 runs, and the newest
 * 100,000 of each kind of unfinished ones. */
gboolean pawl_store_find_run(PawlStore *store, const char *project, const char *text, PawlId *ret_run, GError **error);
PawlRunRow *pawl_store_run(PawlStore *store, const PawlId *run, GError **error);

typedef struct {
  const char *project, *task, *trigger, *origin; /* NULL: any */
  const PawlRunState *states;
  gsize n_states;  /* 0: any */
  gint64 since_ms; /* 0: any; by queued_at_ms */
  gint64 limit;    /* newest first */
} PawlRunFilter;
/* PawlRunRow * appended, newest (by id) first; one snapshot. NOT_FOUND for a task or trigger that never was. `trigger` may be
 * TASK/TRIGGER. `since_ms` is exact for runs whose nominal time is at most a day before they were queued, and beyond that for the next
 * 5,000 by id. limit <= 0: all. */
gboolean pawl_store_runs(PawlStore *store, const PawlRunFilter *filter, GPtrArray *rows, GError **error);

typedef struct {
  gint attempt;
  char *state, *reason;
  gint exit_code, signal;
  gint64 started_at_ms, finished_at_ms, output_bytes, omitted_bytes, cpu_ms, max_rss_kib;
} PawlAttemptRow;
typedef struct {
  gint64 seq, at_ms;
  char *kind, *data;
  gint attempt, machine_row;
} PawlEventRow;
void pawl_attempt_row_free(PawlAttemptRow *row);
void pawl_event_row_free(PawlEventRow *row);
gboolean pawl_store_attempts(PawlStore *store, const PawlId *run, GPtrArray *rows, GError **error);
gboolean pawl_store_events(PawlStore *store, const PawlId *subject, gint64 after_seq, GPtrArray *rows, GError **error);

typedef struct {
  gint attempt;
  gint64 seq, at_ms;
  gint stream;
  GBytes *bytes;
} PawlOutputPart;
void pawl_output_part_free(PawlOutputPart *part);
/* Parts after (attempt, seq), at most 1 MiB a call. */
gboolean pawl_store_output(PawlStore *store, const PawlId *run, gint after_attempt, gint64 after_seq, GPtrArray *parts, GError **error);

/* ---- definitions ---- */
typedef struct {
  PawlId id;
  char *name, *state /* active, paused, disabled, archived, exhausted, quarantined */, *reason, *json;
  gint64 next_fire_at_ms, due_at_ms, last_scheduled_at_ms, paused_at_ms, pause_until_at_ms, quarantine_until_at_ms, revision;
} PawlTriggerRow;
typedef struct {
  PawlId id;
  char *project, *name, *state /* active, paused, archived */, *reason, *paused_by, *json, *digest, *owner_mark;
  gint64 revision, paused_at_ms, pause_until_at_ms, next_fire_at_ms, due_at_ms /* the earliest of its triggers; 0: none */;
  gint waiting, running; /* unfinished runs */
  char *last_state;      /* of its newest finished run; NULL */
  gint64 last_finished_at_ms, last_duration_ms, usual_duration_ms /* median of the last 20 successes; 0: unknown */, running_since_ms;
  GPtrArray *triggers; /* PawlTriggerRow * */
} PawlTaskRow;
void pawl_task_row_free(PawlTaskRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlTaskRow, pawl_task_row_free)
/* task NULL: all active ones of the project (NULL: of all projects), by name. */
gboolean pawl_store_tasks(PawlStore *store, const char *project, const char *task, GPtrArray *rows, GError **error);

typedef struct {
  char *project, *name, *state;
  gint slots, slots_file, used, waiting;
  gboolean overridden;
} PawlPoolRow;
void pawl_pool_row_free(PawlPoolRow *row);
gboolean pawl_store_pools(PawlStore *store, GPtrArray *rows, GError **error);

/* ---- status ---- */
typedef struct {
  gint64 at_ms;
  char *task, *trigger;
} PawlComing;
typedef struct {
  gint64 now_ms, tasks, triggers, paused, quarantined, running, waiting, parked, manual;
  gint64 succeeded_day,
    failed_day;         /* runs that ended within the last 24 h; cancelled ones in neither; successes are counted up to a million */
  gint64 oldest_due_ms; /* how long the oldest due trigger waits; 0: none late */
  gint64 oldest_waiting_ms;
  GPtrArray *failed;       /* PawlRunRow *, newest bad ends, at most 5 */
  GPtrArray *running_rows; /* PawlRunRow *, at most 10 */
  GPtrArray *coming;       /* PawlComing *, at most 5 */
} PawlStatus;
void pawl_status_free(PawlStatus *status);
PawlStatus *pawl_store_status(PawlStore *store, GError **error);

/* ---- explanations: JSON for --json, from which the CLI writes its sentences ---- */
typedef struct {
  gint64 from_ms, to_ms, count;
  gboolean exact;
  char *outcome, *reason;
  PawlId run;
  char *run_state;
} PawlOccurrence;
void pawl_occurrence_free(PawlOccurrence *occurrence);
/* The newest `limit` occurrences or ranges of a trigger with what became of them, newest first: admitted ones (outcome "admitted", run,
 * run_state) and ledger ranges. */
gboolean pawl_store_occurrences(PawlStore *store, const PawlId *trigger, guint limit, GPtrArray *rows, GError **error);
/* Why a run stands where it stands; sentences (char *) appended in the order of importance: what it waits for with the numbers that are
 * compared, position, who holds what, paused by whom; or what happened. */
gboolean pawl_store_explain_run(PawlStore *store, const PawlId *run, GPtrArray *sentences, GError **error);

/* ---- upkeep ---- */
/* One small bite: history of runs that ended before now - history_ms, output that is past its keep, ledger rows and events of that age,
 * at most `bite` runs. `ret_more`: there is more to do. Raises the horizon. */
gboolean pawl_store_retention(PawlStore *store, gint64 history_ms, guint bite, gboolean *ret_more, GError **error);
typedef struct {
  char *name;
  gboolean ok;
  char *text;
  char *fix;
} PawlCheck;
void pawl_check_free(PawlCheck *check);
/* doctor: integrity, schema, drift, G1 and G2 counted from history, pools and limits never over, journal, disk, zones, clock. PawlCheck *
 * appended; changes nothing. Takes seconds on a big store; what is bounded says how far it looked. */
gboolean pawl_store_doctor(PawlStore *store, GPtrArray *checks, GError **error);
