/* SPDX-License-Identifier: Apache-2.0 */
/* History is dropped by age, oldest ids first, in small bites, so that no writer waits long. A run is deleted when it has ended before
 * the bound; an unfinished one never is, whatever its age, and is passed by. The walk remembers where it was (in this connection only),
 * so that what it passes by is not looked at again and again; when it has come to the bound it starts over at the next call.
 *
 * The horizon is the first instant of which no scheduled run has been dropped. Below it pawl no longer knows what ran, so that an
 * occurrence there is never admitted: the ledger calls it `too_old`. */
#include "base/clock.h"
#include "store/runs_private.h"

#define SUBJECTS 200 /* tasks, triggers and pools whose old events are trimmed in one bite */

typedef struct {
  PawlId run;
  gint64 finished_at_ms;
  gboolean scheduled;
} OldRun;

static gboolean read_page(PawlStore *store, gint64 before_ms, guint bite, GArray *page, GError **error) {
  GError *why = NULL;
  PawlId below = pawl_id_floor(before_ms);
  g_autoptr(PawlRows) rows =
    pawl_db_query(store->db, PAWL_SQL_RETENTION_PAGE, error, PAWL_ROW(pawl_id(&store->retention_run), pawl_id(&below), PAWL_INT(bite)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    OldRun run = {pawl_rows_id(rows, 0), pawl_rows_is_null(rows, 2) ? G_MAXINT64 : pawl_rows_int(rows, 2),
      g_str_equal(pawl_rows_text(rows, 1), "schedule")};
    g_array_append_val(page, run);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean drop_output(PawlStore *store, const PawlId *run, GError **error) {
  return pawl_db_exec(store->db, PAWL_SQL_RETENTION_OUTPUT, NULL, error, PAWL_ROW(pawl_id(run))) &&
         pawl_db_exec(store->db, PAWL_SQL_RETENTION_OUTPUT_UNTIL, NULL, error, PAWL_ROW(pawl_id(run)));
}

static gboolean drop_run(PawlStore *store, const PawlId *run, gint64 before_ms, gboolean *ret_dropped, GError **error) {
  gint64 changed = 0;
  if (!pawl_db_exec(store->db, PAWL_SQL_RETENTION_RUN, &changed, error, PAWL_ROW(pawl_id(run), PAWL_INT(before_ms)))) return FALSE;
  *ret_dropped = changed > 0;
  if (changed == 0) return TRUE;
  return pawl_db_exec(store->db, PAWL_SQL_RETENTION_ATTEMPTS, NULL, error, PAWL_ROW(pawl_id(run))) &&
         pawl_db_exec(store->db, PAWL_SQL_RETENTION_EVENTS, NULL, error, PAWL_ROW(pawl_id(run))) && drop_output(store, run, error);
}

static gboolean drop_runs(PawlStore *store, gint64 before_ms, guint bite, gboolean *ret_more, GError **error) {
  gint64 horizon_ms = 0;
  g_autoptr(GArray) page = g_array_new(FALSE, FALSE, sizeof(OldRun));
  if (!read_page(store, before_ms, bite, page, error)) return FALSE;
  for (guint i = 0; i < page->len; i++) {
    const OldRun *run = &g_array_index(page, OldRun, i);
    gboolean dropped = FALSE;
    store->retention_run = run->run;
    if (run->finished_at_ms >= before_ms) continue;
    if (!drop_run(store, &run->run, before_ms, &dropped, error)) return FALSE;
    if (dropped && run->scheduled) horizon_ms = MAX(horizon_ms, pawl_id_time_ms(&run->run) + 1);
  }
  *ret_more = page->len == bite;
  if (!*ret_more) store->retention_run = PAWL_ID_NONE;
  if (horizon_ms == 0) return TRUE;
  return pawl_db_exec(store->db, PAWL_SQL_META_RAISE, NULL, error, PAWL_ROW(pawl_text("horizon_ms"), PAWL_INT(horizon_ms)));
}

static gboolean drop_stale_output(PawlStore *store, guint bite, gboolean *ret_more, GError **error) {
  g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_RETENTION_STALE_OUTPUT, runs, error, PAWL_ROW(PAWL_INT(bite)))) return FALSE;
  for (guint i = 0; i < runs->len; i++)
    if (!drop_output(store, &g_array_index(runs, PawlId, i), error)) return FALSE;
  *ret_more = runs->len == bite;
  return TRUE;
}

static gboolean drop_ledger(PawlStore *store, gint64 before_ms, guint bite, gboolean *ret_more, GError **error) {
  gint64 count, up_to_ms;
  {
    g_autoptr(PawlRows) rows =
      pawl_db_query(store->db, PAWL_SQL_RETENTION_LEDGER_PAGE, error, PAWL_ROW(PAWL_INT(before_ms), PAWL_INT(bite)));
    if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
    count = pawl_rows_int(rows, 0);
    up_to_ms = pawl_rows_int(rows, 1);
  }
  *ret_more = count == bite;
  return count == 0 || pawl_db_exec(store->db, PAWL_SQL_RETENTION_LEDGER, NULL, error, PAWL_ROW(PAWL_INT(up_to_ms), PAWL_INT(before_ms)));
}

static gboolean drop_facts(PawlStore *store, gint64 before_ms, gboolean *ret_more, GError **error) {
  g_autoptr(GArray) subjects = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(
        store, PAWL_SQL_RETENTION_SUBJECTS, subjects, error, PAWL_ROW(pawl_id(&store->retention_subject), PAWL_INT(SUBJECTS))))
    return FALSE;
  for (guint i = 0; i < subjects->len; i++) {
    const PawlId *subject = &g_array_index(subjects, PawlId, i);
    if (!pawl_db_exec(store->db, PAWL_SQL_RETENTION_FACTS, NULL, error, PAWL_ROW(pawl_id(subject), PAWL_INT(before_ms)))) return FALSE;
    store->retention_subject = *subject;
  }
  *ret_more = subjects->len == SUBJECTS;
  if (!*ret_more) store->retention_subject = PAWL_ID_NONE;
  return TRUE;
}

/* Whether this is the replica that drops: two would only wait for each other. */
static gboolean take_turn(PawlStore *store, gboolean *ret_mine, GError **error) {
  gint64 taken = 1;
  if (store->shared && !pawl_store_int(store, PAWL_SQL_RETENTION_TAKE, &taken, error, PAWL_NO_PARAMS)) return FALSE;
  *ret_mine = taken != 0;
  return TRUE;
}

/* A shared store drops the history of runs by ranges, and by the functions that do that. */
static gboolean drop_all(PawlStore *store, gint64 before_ms, guint bite, gboolean *ret_more, GError **error) {
  gboolean runs = FALSE, output = FALSE, ledger = FALSE, facts = FALSE;
  if ((!store->shared && !drop_runs(store, before_ms, bite, &runs, error)) || !drop_stale_output(store, bite, &output, error) ||
      !drop_ledger(store, before_ms, bite, &ledger, error) || !drop_facts(store, before_ms, &facts, error) ||
      !pawl_db_exec(store->db, PAWL_SQL_RETENTION_WORKERS, NULL, error, PAWL_ROW(PAWL_INT(before_ms))))
    return FALSE;
  *ret_more = runs || output || ledger || facts;
  return TRUE;
}

gboolean pawl_store_retention(PawlStore *store, gint64 history_ms, guint bite, gboolean *ret_more, GError **error) {
  gint64 now_ms = 0;
  gboolean mine = FALSE, more = FALSE;
  bite = MAX(bite, 1);
  PawlId run = store->retention_run, subject = store->retention_subject;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = take_turn(store, &mine, error) && pawl_store_now(store, &now_ms, error) &&
                (!mine || drop_all(store, now_ms - history_ms, bite, &more, error));
  if (!ok) pawl_db_rollback(store->db);
  if (!ok || !pawl_db_commit(store->db, error)) {
    store->retention_run = run;
    store->retention_subject = subject;
    return FALSE;
  }
  *ret_more = more;
  return TRUE;
}
