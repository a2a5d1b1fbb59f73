/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of runs, newest id first, without an index for each filter. A list is fed by one or more sources, each a walk over an index that
 * gives candidates newest first; what the source could not tell is checked on the row itself.
 *
 *   any state          runs by id, or a task's runs by id
 *   unfinished states  the hot tables by id (a task's own by their task index)
 *   succeeded          attempts by run id (a task's runs by id), so that a backlog in front costs nothing
 *   bad ends           attempts_bad by the instant of the end; an end is never before the instant in the run's id, so the walk stops
 *                      when it has passed the id of the last row that still fits
 *
 * `since` compares the instant of queueing, which for a made-up occurrence is later than the instant in its id; so a walk by id goes on
 * for a day and at least SINCE_SLACK rows below it. */
#include "base/clock.h"
#include "base/error.h"
#include "store/runs_private.h"

#include <string.h>

#define PAGE 500
#define SINCE_SLACK 5000

typedef struct {
  PawlStore *store;
  const PawlRunFilter *filter;
  gsize limit;
  GArray *tasks;       /* PawlId; empty: any task */
  const char *trigger; /* name, NULL: any */
  guint states;        /* bits; 0: any */
  GPtrArray *rows;     /* of the source at hand */
} Listing;

static gboolean fits(const Listing *listing, const PawlRunRow *row) {
  const PawlRunFilter *filter = listing->filter;
  if (listing->states != 0 && (listing->states & 1u << row->state) == 0) return FALSE;
  if (row->queued_at_ms < filter->since_ms) return FALSE;
  if (filter->origin != NULL && !g_str_equal(row->origin, filter->origin)) return FALSE;
  if (listing->trigger != NULL && g_strcmp0(row->trigger, listing->trigger) != 0) return FALSE;
  if (filter->project != NULL && !g_str_equal(row->project, filter->project)) return FALSE;
  for (guint i = 0; i < listing->tasks->len; i++)
    if (pawl_id_equal(&g_array_index(listing->tasks, PawlId, i), &row->task_id)) return TRUE;
  return listing->tasks->len == 0;
}

/* Adds the run if it fits. */
static gboolean consider(Listing *listing, const PawlId *run, gboolean *ret_added, GError **error) {
  GError *why = NULL;
  PawlRunRow *row = pawl_store_run_or_none(listing->store, run, &why);
  *ret_added = row != NULL && fits(listing, row);
  if (*ret_added)
    g_ptr_array_add(listing->rows, row);
  else
    pawl_run_row_free(row);
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

gboolean pawl_store_run_page(PawlStore *store, const PawlId *task, const PawlId *before, guint limit, GArray *keys, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows =
    task == NULL ? pawl_db_query(store->db, PAWL_SQL_RUNS_BEFORE, error, PAWL_ROW(pawl_id(before), PAWL_INT(limit)))
                 : pawl_db_query(store->db, PAWL_SQL_RUNS_OF_TASK_BEFORE, error, PAWL_ROW(pawl_id(task), pawl_id(before), PAWL_INT(limit)));
  g_array_set_size(keys, 0);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlRunKey key = {pawl_rows_id(rows, 0), pawl_rows_id(rows, 1), g_str_equal(pawl_rows_text(rows, 2), "schedule")};
    g_array_append_val(keys, key);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* Whether a walk by id has gone far enough below `since`. */
static gboolean is_past(const Listing *listing, const PawlId *run, guint *slack) {
  return pawl_id_time_ms(run) < listing->filter->since_ms - PAWL_DAY_MS && ++*slack > SINCE_SLACK;
}

/* Source: runs by id. */
static gboolean walk_runs(Listing *listing, const PawlId *task, GError **error) {
  g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(PawlRunKey));
  const PawlRunFilter *filter = listing->filter;
  gboolean scheduled_only = filter->origin != NULL && g_str_equal(filter->origin, "schedule");
  PawlId before = PAWL_ID_TOP;
  guint slack = 0;
  do {
    if (!pawl_store_run_page(listing->store, task, &before, PAGE, keys, error)) return FALSE;
    for (guint i = 0; i < keys->len && listing->rows->len < listing->limit; i++) {
      const PawlRunKey *key = &g_array_index(keys, PawlRunKey, i);
      gboolean added = FALSE;
      before = key->run;
      if (is_past(listing, &key->run, &slack)) return TRUE;
      if ((scheduled_only && !key->scheduled) || (listing->trigger != NULL && pawl_id_is_none(&key->trigger))) continue;
      if (!consider(listing, &key->run, &added, error)) return FALSE;
      if (added) slack = 0;
    }
  } while (keys->len == PAGE && listing->rows->len < listing->limit);
  return TRUE;
}

typedef struct {
  guint states; /* which runs stand there */
  PawlSql all, of_task;
} Source;

static guint state_bit_of_parked(const char *reason) {
  if (g_str_equal(reason, "retry")) return 1u << PAWL_RUN_RETRY_WAIT;
  return g_str_equal(reason, "start_at") ? 1u << PAWL_RUN_SCHEDULED : 1u << PAWL_RUN_QUEUED;
}

static gboolean source_page(Listing *listing, const Source *table, const PawlId *task, const PawlId *before, GArray *ids, PawlId *ret_last,
  guint *ret_seen, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows =
    task == NULL ? pawl_db_query(listing->store->db, table->all, error, PAWL_ROW(pawl_id(before), PAWL_INT(PAGE)))
                 : pawl_db_query(listing->store->db, table->of_task, error, PAWL_ROW(pawl_id(task), pawl_id(before), PAWL_INT(PAGE)));
  g_array_set_size(ids, 0);
  *ret_seen = 0;
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlId id = pawl_rows_id(rows, 0);
    const char *reason = pawl_rows_text(rows, 1);
    *ret_last = id;
    ++*ret_seen;
    if (reason[0] == '\0' || (listing->states & state_bit_of_parked(reason)) != 0) g_array_append_val(ids, id);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* Source: one hot table, or the good ends. */
static gboolean walk_source(Listing *listing, const Source *table, const PawlId *task, GError **error) {
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(PawlId));
  PawlId before = PAWL_ID_TOP;
  guint seen, slack = 0;
  do {
    if (!source_page(listing, table, task, &before, ids, &before, &seen, error)) return FALSE;
    for (guint i = 0; i < ids->len && listing->rows->len < listing->limit; i++) {
      const PawlId *run = &g_array_index(ids, PawlId, i);
      gboolean added;
      if (is_past(listing, run, &slack)) return TRUE;
      if (!consider(listing, run, &added, error)) return FALSE;
      if (added) slack = 0;
    }
  } while (seen == PAGE && listing->rows->len < listing->limit);
  return TRUE;
}

static gint newest_first(gconstpointer a, gconstpointer b) {
  return pawl_id_compare(&(*(PawlRunRow *const *)b)->id, &(*(PawlRunRow *const *)a)->id);
}

static void keep_newest(GPtrArray *rows, gsize limit) {
  g_ptr_array_sort(rows, newest_first);
  if (rows->len > limit) g_ptr_array_set_size(rows, (gint)limit);
}

typedef struct {
  PawlId run;
  gint64 finished_at_ms;
} BadEnd;

static gboolean bad_page(Listing *listing, const BadEnd *after, GArray *ends, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(
    listing->store->db, PAWL_SQL_RUNS_BAD_BEFORE, error, PAWL_ROW(PAWL_INT(after->finished_at_ms), pawl_id(&after->run), PAWL_INT(PAGE)));
  g_array_set_size(ends, 0);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    BadEnd end = {pawl_rows_id(rows, 0), pawl_rows_int(rows, 1)};
    g_array_append_val(ends, end);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

/* Source: bad ends. */
static gboolean walk_bad(Listing *listing, GError **error) {
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(BadEnd));
  BadEnd last = {PAWL_ID_TOP, G_MAXINT64};
  do {
    if (!bad_page(listing, &last, ends, error)) return FALSE;
    for (guint i = 0; i < ends->len; i++) {
      gboolean added;
      last = g_array_index(ends, BadEnd, i);
      if (last.finished_at_ms < listing->filter->since_ms) return TRUE; /* queued before it, too */
      if (!consider(listing, &last.run, &added, error)) return FALSE;
    }
    if (listing->rows->len >= listing->limit) {
      keep_newest(listing->rows, listing->limit);
      const PawlRunRow *lowest = g_ptr_array_index(listing->rows, listing->rows->len - 1);
      if (last.finished_at_ms < pawl_id_time_ms(&lowest->id)) return TRUE;
    }
  } while (ends->len == PAGE);
  return TRUE;
}

static const Source sources[] = {
  {1u << PAWL_RUN_RUNNING, PAWL_SQL_RUNS_LEASED_BEFORE, PAWL_SQL_RUNS_LEASED_OF_TASK_BEFORE},
  {1u << PAWL_RUN_QUEUED, PAWL_SQL_RUNS_READY_BEFORE, PAWL_SQL_RUNS_READY_OF_TASK_BEFORE},
  {1u << PAWL_RUN_QUEUED | 1u << PAWL_RUN_RETRY_WAIT | 1u << PAWL_RUN_SCHEDULED, PAWL_SQL_RUNS_PARKED_BEFORE,
    PAWL_SQL_RUNS_PARKED_OF_TASK_BEFORE},
  {1u << PAWL_RUN_SUCCEEDED, PAWL_SQL_RUNS_SUCCEEDED_BEFORE, PAWL_SQL_RUNS_SUCCEEDED_OF_TASK_BEFORE},
};

/* Moves what a source gave to all that was found. */
static void collect(Listing *listing, GPtrArray *all) {
  g_ptr_array_extend_and_steal(all, listing->rows);
  listing->rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
}

/* Each source gives its newest `limit`; the newest of all are kept. */
static gboolean run_sources(Listing *listing, GError **error) {
  const guint bad = 1u << PAWL_RUN_FAILED | 1u << PAWL_RUN_CANCELLED | 1u << PAWL_RUN_TIMED_OUT;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  guint n_tasks = MAX(listing->tasks->len, 1);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < n_tasks; i++) {
    const PawlId *task = listing->tasks->len > 0 ? &g_array_index(listing->tasks, PawlId, i) : NULL;
    if (listing->states == 0) {
      ok = walk_runs(listing, task, error);
      collect(listing, all);
    }
    for (gsize t = 0; ok && t < G_N_ELEMENTS(sources); t++) {
      if ((sources[t].states & listing->states) == 0) continue;
      ok = walk_source(listing, &sources[t], task, error);
      collect(listing, all);
    }
  }
  if (ok && (listing->states & bad) != 0) {
    ok = walk_bad(listing, error);
    collect(listing, all);
  }
  keep_newest(all, listing->limit);
  g_ptr_array_extend_and_steal(listing->rows, g_steal_pointer(&all));
  return ok;
}

/* Names to ids. `task` and `trigger` may also come as one "task/trigger" in either. */
static gboolean resolve(Listing *listing, char **ret_task, char **ret_trigger, GError **error) {
  const PawlRunFilter *filter = listing->filter;
  const char *both = filter->trigger != NULL && strchr(filter->trigger, '/') != NULL ? filter->trigger : filter->task;
  const char *slash = both != NULL ? strchr(both, '/') : NULL;
  *ret_task = slash != NULL ? g_strndup(both, (gsize)(slash - both)) : g_strdup(filter->task);
  *ret_trigger = g_strdup(slash != NULL ? slash + 1 : filter->trigger);
  listing->trigger = *ret_trigger;
  if (*ret_task == NULL) {
    gint64 count = 1;
    if (*ret_trigger == NULL) return TRUE;
    if (!pawl_store_int(listing->store, PAWL_SQL_TRIGGERS_NAMED, &count, error, PAWL_ROW(pawl_text(*ret_trigger)))) return FALSE;
    if (count == 0) g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no trigger '%s'", *ret_trigger);
    return count != 0;
  }
  if (!pawl_store_ids(
        listing->store, PAWL_SQL_TASKS_NAMED, listing->tasks, error, PAWL_ROW(pawl_text(filter->project), pawl_text(*ret_task))))
    return FALSE;
  if (listing->tasks->len > 1) return TRUE;
  g_auto(PawlRef) ref = {0};
  g_autofree char *reference = *ret_trigger != NULL ? g_strdup_printf("%s/%s", *ret_task, *ret_trigger) : g_strdup(*ret_task);
  if (listing->tasks->len == 1 && *ret_trigger == NULL) return TRUE;
  return pawl_store_lookup(listing->store, filter->project, reference, TRUE, &ref, error);
}

gboolean pawl_store_runs(PawlStore *store, const PawlRunFilter *filter, GPtrArray *rows, GError **error) {
  g_autofree char *task = NULL, *trigger = NULL;
  g_autoptr(GArray) tasks = g_array_new(FALSE, FALSE, sizeof(PawlId));
  Listing listing = {.store = store, .filter = filter, .tasks = tasks, .limit = filter->limit > 0 ? (gsize)filter->limit : G_MAXINT};
  for (gsize i = 0; i < filter->n_states; i++) listing.states |= 1u << filter->states[i];
  listing.rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  gboolean ok = pawl_db_begin(store->db, PAWL_TX_READ, error);
  if (ok) {
    ok = resolve(&listing, &task, &trigger, error) && run_sources(&listing, error);
    pawl_db_rollback(store->db);
  }
  if (ok)
    g_ptr_array_extend_and_steal(rows, listing.rows);
  else
    g_ptr_array_unref(listing.rows);
  return ok;
}
