/* SPDX-License-Identifier: Apache-2.0 */
/* The end of an attempt: exactly once by its fence. What the limits of its task count goes away with it, so parked rows are released in
 * the same transaction. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/dispatch.h"
#include "store/schedules.h"
#include "store/store_private.h"

#define RELEASE_ROWS 256
#define OUTPUT_KEEP_MS (7 * PAWL_DAY_MS) /* where the task's own rule cannot be read */

typedef struct {
  PawlId run, task, pool, session;
  gint attempt, slots, laters;
  gint64 order_key, lease_version, started_at_ms;
  gboolean trigger_born;
  char digest[PAWL_DIGEST_TEXT];
  gint64 task_revision;
  gboolean limited, task_archived, cancel_asked;
  char cancel_reason[200]; /* who asked for the cancel, and why */
} Lease;

/* FALSE without error: nobody holds a lease on it. */
static gboolean read_lease(PawlStore *store, const PawlId *run, Lease *lease, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_LEASE_ROW, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL) g_propagate_error(error, failed);
    return FALSE;
  }
  *lease = (Lease){.run = *run,
    .attempt = (gint)pawl_rows_int(rows, 0),
    .task = pawl_rows_id(rows, 1),
    .pool = pawl_rows_id(rows, 2),
    .slots = (gint)pawl_rows_int(rows, 3),
    .order_key = pawl_rows_int(rows, 4),
    .trigger_born = pawl_rows_int(rows, 5) != 0,
    .lease_version = pawl_rows_int(rows, 6),
    .laters = (gint)pawl_rows_int(rows, 7),
    .started_at_ms = pawl_rows_int(rows, 9),
    .session = pawl_rows_id(rows, 11)};
  g_strlcpy(lease->digest, pawl_rows_text(rows, 8), sizeof lease->digest);
  return TRUE;
}

static gboolean read_detail(PawlStore *store, Lease *lease, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_LEASE_DETAIL, error, PAWL_ROW(pawl_id(&lease->run)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a leased attempt has no run");
    return FALSE;
  }
  lease->task_revision = pawl_rows_int(rows, 0);
  lease->limited = pawl_rows_int(rows, 1) > 0 || pawl_rows_int(rows, 2) != 0;
  lease->task_archived = pawl_rows_int(rows, 3) != 0;
  lease->cancel_asked = !pawl_rows_is_null(rows, 4);
  if (lease->cancel_asked && pawl_rows_is_null(rows, 5))
    g_strlcpy(lease->cancel_reason, pawl_rows_text(rows, 4), sizeof lease->cancel_reason);
  else if (lease->cancel_asked)
    g_snprintf(lease->cancel_reason, sizeof lease->cancel_reason, "%s (asked by %s)", pawl_rows_text(rows, 4), pawl_rows_text(rows, 5));
  return TRUE;
}

/* ---- late reports ---- */

static gboolean record_late(PawlStore *store, PawlFinish *finish, GError **error) {
  GError *failed = NULL;
  const PawlTransition *row = pawl_machine_find(PAWL_ATTEMPT_RUNNING, finish->event, FALSE);
  finish->accepted = FALSE;
  PawlRows *rows = pawl_db_query(store->db, PAWL_SQL_FINISH_RECORDED, error, PAWL_ROW(pawl_id(&finish->run), PAWL_INT(finish->attempt)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &failed))
    finish->accepted = row != NULL && pawl_rows_int(rows, 1) == finish->lease_version &&
                       g_str_equal(pawl_rows_text(rows, 0), pawl_attempt_state_name(row->to)); /* an exact replay changes nothing */
  pawl_rows_close(rows);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (finish->accepted) return TRUE;
  g_autofree char *data = g_strdup_printf("{\"lease_version\":%" G_GINT64_FORMAT "}", finish->lease_version);
  return pawl_db_exec(
    store->db, PAWL_SQL_FINISH_LATE, NULL, error, PAWL_ROW(pawl_id(&finish->run), PAWL_INT(finish->attempt), pawl_text(data)));
}

/* ---- the end ---- */

static gboolean write_attempt(PawlStore *store, const Lease *lease, const PawlFinish *finish, const PawlTransition *row, GError **error) {
  gint64 started_at_ms = lease->started_at_ms != 0 ? lease->started_at_ms : finish->started_at_ms;
  return pawl_db_exec(store->db, PAWL_SQL_FINISH_ATTEMPT, NULL, error,
    PAWL_ROW(pawl_id(&lease->run), PAWL_INT(lease->attempt), pawl_text(pawl_attempt_state_name(row->to)), PAWL_INT(!row->next_attempt),
      pawl_text(finish->event == PAWL_EVENT_CANCEL && lease->cancel_asked ? lease->cancel_reason : finish->reason),
      finish->exit_code >= 0 ? PAWL_INT(finish->exit_code) : PAWL_NULL, pawl_int_or_null(finish->signal), pawl_id(&lease->session),
      PAWL_INT(lease->lease_version), pawl_int_or_null(started_at_ms), PAWL_INT(finish->output_bytes), PAWL_INT(finish->omitted_bytes),
      pawl_int_or_null(finish->cpu_ms), pawl_int_or_null(finish->max_rss_kib)));
}

static gboolean write_events(PawlStore *store, const Lease *lease, const PawlFinish *finish, const PawlTransition *row, GError **error) {
  const PawlTransition *start = pawl_machine_find(PAWL_ATTEMPT_LEASED, PAWL_EVENT_START, FALSE);
  g_autofree char *attempt = g_strconcat("attempt.", pawl_attempt_state_name(row->to), NULL);
  g_autofree char *run = g_strconcat("run.", pawl_run_state_name(row->run), NULL);
  if (lease->started_at_ms == 0 && finish->started_at_ms != 0 &&
      !pawl_store_event(store, &lease->run, "attempt.started", lease->attempt, start->row, NULL, error))
    return FALSE;
  return pawl_store_event(store, &lease->run, attempt, lease->attempt, row->row, NULL, error) &&
         pawl_store_event(store, &lease->run, run, row->next_attempt ? lease->attempt + 1 : 0, row->row, NULL, error);
}

static gboolean park_retry(PawlStore *store, const Lease *lease, PawlMachineEvent event, gint64 wait_ms, GError **error) {
  gint64 now_ms;
  g_autofree char *wait = pawl_duration_text(wait_ms);
  g_autofree char *detail = g_strdup_printf("attempt %d follows after %s", lease->attempt + 1, wait);
  return pawl_store_now(store, &now_ms, error) &&
         pawl_db_exec(store->db, PAWL_SQL_PARKED_INSERT, NULL, error,
           PAWL_ROW(pawl_id(&lease->run), PAWL_INT(lease->attempt + 1), pawl_id(&lease->task), pawl_id(&lease->pool),
             PAWL_INT(lease->slots), PAWL_INT(lease->order_key), PAWL_INT(lease->trigger_born), PAWL_INT(lease->lease_version),
             PAWL_INT(lease->laters + (event == PAWL_EVENT_LATER)), PAWL_NULL, PAWL_INT(now_ms), pawl_text("retry"), pawl_text(detail),
             PAWL_INT(now_ms + wait_ms)));
}

/* The row of the machine that applies, and how long the next attempt waits. An attempt whose cancel was asked for is never followed by
 * another. */
static const PawlTransition *decide_end(const Lease *lease, const PawlFinish *finish, const PawlTaskSpec *spec, gint64 *ret_wait_ms) {
  gboolean started = lease->started_at_ms != 0 || finish->started_at_ms != 0;
  gboolean retry = spec != NULL && !lease->cancel_asked && !lease->task_archived &&
                   pawl_retry_rule(spec, &lease->run, lease->attempt, lease->laters, finish->event, ret_wait_ms);
  return pawl_machine_find(started ? PAWL_ATTEMPT_RUNNING : PAWL_ATTEMPT_LEASED, finish->event, retry);
}

/* A granted attempt of which nothing ran waits again; no attempt is used up. */
static gboolean give_back(PawlStore *store, const Lease *lease, const char *reason, GError **error) {
  PawlValue run = pawl_id(&lease->run), attempt = PAWL_INT(lease->attempt), lease_version = PAWL_INT(lease->lease_version);
  return pawl_db_exec(store->db, PAWL_SQL_READY_FROM_LEASED, NULL, error, PAWL_ROW(run, attempt, lease_version)) &&
         pawl_db_exec(store->db, PAWL_SQL_LEASE_DELETE, NULL, error, PAWL_ROW(run, attempt, lease_version, PAWL_NULL)) &&
         pawl_store_act(store, &lease->run, "attempt.given_back", error, "reason", reason, NULL);
}

/* A spec that cannot be read (a damaged row) leaves the attempt its end and takes the retries: one bad row holds up nothing. NULL with
 * `error`: the store failed. NULL without: unreadable. */
static const PawlTaskSpec *readable_spec(PawlStore *store, const Lease *lease, GError **error) {
  GError *failed = NULL;
  const PawlTaskSpec *spec = pawl_store_task_spec(store, &lease->task, lease->task_revision, &failed);
  if (failed != NULL && pawl_error_info_of(failed)->retry)
    g_propagate_error(error, failed);
  else
    g_clear_error(&failed);
  return spec;
}

static gboolean finish_leased(PawlStore *store, const Lease *lease, PawlFinish *finish, GError **error) {
  gint64 wait_ms = 0;
  GError *failed = NULL;
  if (finish->event == PAWL_EVENT_LOSE && lease->started_at_ms == 0 && finish->started_at_ms == 0) { /* nothing of it ran */
    finish->accepted = TRUE;
    finish->run_state = PAWL_RUN_QUEUED;
    return give_back(store, lease, finish->reason, error);
  }
  const PawlTaskSpec *spec = readable_spec(store, lease, &failed);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  const PawlTransition *row = decide_end(lease, finish, spec, &wait_ms);
  if (row == NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "an attempt that was leased cannot end by event %d", finish->event);
    return FALSE;
  }
  if (!write_attempt(store, lease, finish, row, error) || !write_events(store, lease, finish, row, error) ||
      !pawl_db_exec(store->db, PAWL_SQL_LEASE_DELETE, NULL, error,
        PAWL_ROW(pawl_id(&lease->run), PAWL_INT(lease->attempt), PAWL_INT(lease->lease_version), pawl_text(lease->digest))))
    return FALSE;
  if (row->next_attempt && !park_retry(store, lease, finish->event, wait_ms, error)) return FALSE;
  if (lease->cancel_asked && !pawl_db_exec(store->db, PAWL_SQL_CANCEL_DELETE, NULL, error, PAWL_ROW(pawl_id(&lease->run)))) return FALSE;
  if (finish->output_bytes > 0 && !pawl_db_exec(store->db, PAWL_SQL_FINISH_OUTPUT_UNTIL, NULL, error,
                                    PAWL_ROW(pawl_id(&lease->run), PAWL_INT(spec != NULL ? spec->output_keep_ms : OUTPUT_KEEP_MS))))
    return FALSE;
  finish->accepted = TRUE;
  finish->run_state = row->run;
  return TRUE;
}

/* Gates before leases, both in the order of their ids: a renewal of the same session takes leases too. */
static gboolean lock_finishes(PawlStore *store, const PawlFinish *finishes, guint n, GError **error) {
  g_autoptr(PawlMany) gates = pawl_many_new(PAWL_SQL_FINISH_GATES_LOCK), leases = pawl_many_new(PAWL_SQL_FINISH_LEASES_LOCK);
  if (!store->shared) return TRUE;
  for (guint i = 0; i < n; i++) {
    pawl_many_add(gates, PAWL_ROW(pawl_id(&finishes[i].run)));
    pawl_many_add(leases, PAWL_ROW(pawl_id(&finishes[i].run)));
  }
  return pawl_many_exec(store, gates, NULL, error) && pawl_many_exec(store, leases, NULL, error);
}

static gboolean finish_one(PawlStore *store, PawlFinish *finish, GHashTable *limited, GError **error) {
  GError *failed = NULL;
  Lease lease;
  g_autofree char *digest = pawl_digest((const char *)finish->token.b, PAWL_ID_BYTES);
  gboolean held = read_lease(store, &finish->run, &lease, &failed);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (!held || lease.attempt != finish->attempt || lease.lease_version != finish->lease_version || !g_str_equal(lease.digest, digest))
    return record_late(store, finish, error);
  if (!read_detail(store, &lease, error) || !finish_leased(store, &lease, finish, error)) return FALSE;
  if (lease.limited) g_hash_table_add(limited, g_memdup2(&lease.task, sizeof lease.task));
  return TRUE;
}

static gboolean release_all(PawlStore *store, GHashTable *tasks, GError **error) {
  GHashTableIter iter;
  gpointer task;
  g_hash_table_iter_init(&iter, tasks);
  while (g_hash_table_iter_next(&iter, &task, NULL))
    if (!pawl_store_task_release(store, task, error)) return FALSE;
  return TRUE;
}

gboolean pawl_store_finish(PawlStore *store, PawlFinish *finishes, guint n, GError **error) {
  gboolean ok = TRUE;
  g_autoptr(GHashTable) limited = g_hash_table_new_full(pawl_id_hash, pawl_id_equal_p, g_free, NULL);
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  ok = lock_finishes(store, finishes, n, error);
  for (guint i = 0; ok && i < n; i++) ok = finish_one(store, &finishes[i], limited, error);
  if (ok) ok = release_all(store, limited, error);
  PAWL_FAULT("finish.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  PAWL_FAULT("finish.after_commit");
  if (!ok) pawl_db_rollback(store->db);
  return ok;
}

gboolean pawl_store_orphan_settle(PawlStore *store, const PawlOrphan *orphan, const char *reason, gboolean *ret_took, GError **error) {
  GError *failed = NULL;
  Lease lease;
  gboolean take;
  const PawlId *run = &orphan->run;
  PawlFinish finish = {.run = *run,
    .attempt = orphan->attempt,
    .lease_version = orphan->lease_version,
    .event = PAWL_EVENT_LOSE,
    .reason = reason,
    .exit_code = -1};
  g_autoptr(PawlMany) gates = pawl_many_new(PAWL_SQL_FINISH_GATES_LOCK);
  pawl_many_add(gates, PAWL_ROW(pawl_id(run)));
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean held = pawl_lock_finish(store, gates, &failed) && pawl_store_may_settle(store, orphan, &take, &failed) && take &&
                  read_lease(store, run, &lease, &failed);
  gboolean ok = failed == NULL;
  gboolean took = held && lease.attempt == orphan->attempt && lease.lease_version == orphan->lease_version;
  if (took)
    ok = read_detail(store, &lease, &failed) && finish_leased(store, &lease, &finish, &failed) &&
         (!lease.limited || pawl_store_task_release(store, &lease.task, &failed));
  PAWL_FAULT("recover.before_commit");
  if (!ok) {
    pawl_db_rollback(store->db);
    g_propagate_error(error, failed);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_took = took;
  return TRUE;
}

/* ---- attempts that wait ---- */

gboolean pawl_store_end_waiting(
  PawlStore *store, const PawlId *run, PawlMachineEvent event, const char *reason, gboolean *ret_found, GError **error) {
  GError *failed = NULL;
  PawlDb *db = store->db;
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_FINISH_WAITING, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL) return FALSE;
  gboolean found = pawl_rows_next(rows, &failed);
  gint attempt = found ? (gint)pawl_rows_int(rows, 0) : 0;
  gint64 lease_version = found ? pawl_rows_int(rows, 1) : 0;
  pawl_rows_close(rows);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  *ret_found = found;
  if (!found) return TRUE;
  const PawlTransition *row = pawl_machine_find(PAWL_ATTEMPT_WAITING, event, FALSE);
  g_autofree char *attempt_event = g_strconcat("attempt.", pawl_attempt_state_name(row->to), NULL);
  g_autofree char *run_event = g_strconcat("run.", pawl_run_state_name(row->run), NULL);
  return pawl_db_exec(db, PAWL_SQL_FINISH_ATTEMPT, NULL, error,
           PAWL_ROW(pawl_id(run), PAWL_INT(attempt), pawl_text(pawl_attempt_state_name(row->to)), PAWL_INT(1), pawl_text(reason), PAWL_NULL,
             PAWL_NULL, PAWL_NULL, PAWL_INT(lease_version), PAWL_NULL, PAWL_INT(0), PAWL_INT(0), PAWL_NULL, PAWL_NULL)) &&
         pawl_store_event(store, run, attempt_event, attempt, row->row, NULL, error) &&
         pawl_store_event(store, run, run_event, 0, row->row, NULL, error) &&
         pawl_db_exec(db, PAWL_SQL_READY_DELETE, NULL, error, PAWL_ROW(pawl_id(run), PAWL_INT(attempt))) &&
         pawl_db_exec(db, PAWL_SQL_PARKED_DELETE, NULL, error, PAWL_ROW(pawl_id(run))) &&
         pawl_db_exec(db, PAWL_SQL_CANCEL_DELETE, NULL, error, PAWL_ROW(pawl_id(run)));
}

/* ---- room under a task's limits ---- */

typedef struct {
  gint max_active, active, active_born;
  gboolean serial;
} TaskLimits;

static gboolean read_limits(PawlStore *store, const PawlId *task, TaskLimits *limits, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_FINISH_TASK_LIMITS, error, PAWL_ROW(pawl_id(task)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a parked attempt has no task");
    return FALSE;
  }
  *limits =
    (TaskLimits){(gint)pawl_rows_int(rows, 0), (gint)pawl_rows_int(rows, 2), (gint)pawl_rows_int(rows, 3), pawl_rows_int(rows, 1) != 0};
  return TRUE;
}

typedef struct {
  PawlId run;
  gboolean born;
} Parked;

static GArray *read_releasable(PawlStore *store, const PawlId *task, GError **error) {
  GError *failed = NULL;
  PawlRows *rows = pawl_db_query(store->db, PAWL_SQL_FINISH_RELEASABLE, error, PAWL_ROW(pawl_id(task), PAWL_INT(RELEASE_ROWS)));
  if (rows == NULL) return NULL;
  GArray *found = g_array_new(FALSE, FALSE, sizeof(Parked));
  while (pawl_rows_next(rows, &failed)) {
    Parked parked = {pawl_rows_id(rows, 0), pawl_rows_int(rows, 1) != 0};
    g_array_append_val(found, parked);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return found;
  g_propagate_error(error, failed);
  g_array_unref(found);
  return NULL;
}

gboolean pawl_store_unpark(PawlStore *store, const PawlId *run, GError **error) {
  gint64 moved = 0;
  return pawl_db_exec(store->db, PAWL_SQL_READY_FROM_PARKED, &moved, error, PAWL_ROW(pawl_id(run))) &&
         (moved == 0 || pawl_db_exec(store->db, PAWL_SQL_PARKED_DELETE, NULL, error, PAWL_ROW(pawl_id(run))));
}

gboolean pawl_store_task_release(PawlStore *store, const PawlId *task, GError **error) {
  TaskLimits limits;
  gint64 moved;
  if (store->shared) return pawl_store_int(store, PAWL_SQL_TASK_RELEASE_RUNS, &moved, error, PAWL_ROW(pawl_id(task)));
  g_autoptr(GArray) parked = read_releasable(store, task, error);
  if (parked == NULL) return FALSE;
  if (parked->len == 0) return TRUE;
  if (!read_limits(store, task, &limits, error)) return FALSE;
  gint room = limits.max_active > 0 ? limits.max_active - limits.active : G_MAXINT;
  gint born_room = limits.serial ? 1 - limits.active_born : G_MAXINT;
  for (guint i = 0; i < parked->len && room > 0; i++) {
    const Parked *row = &g_array_index(parked, Parked, i);
    if (row->born && born_room <= 0) continue;
    if (!pawl_store_unpark(store, &row->run, error)) return FALSE;
    room--;
    born_room -= row->born;
  }
  return TRUE;
}
