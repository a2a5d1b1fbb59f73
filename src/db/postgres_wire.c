/* SPDX-License-Identifier: Apache-2.0 */
/* One pipeline: all of it is sent, then its results are awaited in order.
 *
 * After the first error the server skips the rest up to the sync, a COMMIT in it too, so such a COMMIT is definitely not done. A connection
 * that breaks, or a deadline that passes, while a COMMIT is under way leaves its outcome unknown. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define DRAIN_US (5 * G_USEC_PER_SEC)
#define SLACK_MS 1000   /* the server's own timeout comes first */
#define CHECK_MS "1000" /* client_connection_check_interval: how soon a backend sees that its client is gone */

typedef struct {
  const char *text;
  PawlPgParams params;
  PawlPgStep step;
} Item;

struct PawlPgPipeline {
  PawlPg *pg;
  const char *where;
  GArray *items;
  gboolean settles, undoes;
};

static void item_clear(gpointer p) { pawl_pg_params_clear(&((Item *)p)->params); }

PawlPgPipeline *pawl_pg_pipeline_new(PawlPg *pg, const char *where) {
  PawlPgPipeline *pipeline = g_new0(PawlPgPipeline, 1);
  pipeline->pg = pg;
  pipeline->where = where;
  pipeline->items = g_array_new(FALSE, FALSE, sizeof(Item));
  g_array_set_clear_func(pipeline->items, item_clear);
  return pipeline;
}

void pawl_pg_pipeline_free(PawlPgPipeline *pipeline) {
  if (pipeline == NULL) return;
  g_array_unref(pipeline->items);
  g_free(pipeline);
}

static void add(PawlPgPipeline *pipeline, const char *text, const PawlPgParams *params, PawlPgStep step) {
  Item item = {.text = text, .step = step};
  if (params != NULL) item.params = *params;
  g_array_append_val(pipeline->items, item);
}

void pawl_pg_pipeline_add(PawlPgPipeline *pipeline, const char *text, const PawlPgParams *params) {
  add(pipeline, text, params, PAWL_PG_STATEMENT);
}

void pawl_pg_pipeline_commit(PawlPgPipeline *pipeline) {
  add(pipeline, "COMMIT", NULL, PAWL_PG_COMMIT);
  pipeline->settles = TRUE;
}

void pawl_pg_pipeline_rollback(PawlPgPipeline *pipeline) {
  add(pipeline, "ROLLBACK", NULL, PAWL_PG_STATEMENT);
  pipeline->undoes = TRUE;
}

static void add_text(PawlPgParams *params, char *text) {
  params->types[params->n] = 25;
  params->values[params->n] = text;
  params->n++;
  g_ptr_array_add(params->owned, text);
}

static char *ms_text(gint64 ms) { return g_strdup_printf("%" G_GINT64_FORMAT, ms); }

/* What the transaction relies on, whatever the defaults of server, database, role and pooler are. */
static void add_settings(PawlPgPipeline *pipeline) {
  static const char *const text =
    "SELECT set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', "
    "$3, true), set_config('synchronous_commit', $4, true), set_config('client_connection_check_interval', $5, true), set_config('jit', 'off', true)";
  const PawlPg *pg = pipeline->pg;
  PawlPgParams params = {.types = g_new(Oid, 5),
    .values = g_new0(char *, 5),
    .lengths = g_new0(int, 5),
    .formats = g_new0(int, 5),
    .owned = g_ptr_array_new_with_free_func(g_free)};
  add_text(&params, ms_text(pg->options.statement_ms));
  add_text(&params, ms_text(pg->options.busy_ms));
  add_text(&params, ms_text(pg->options.idle_ms));
  add_text(&params, g_strdup(pg->synchronous_commit));
  add_text(&params, g_strdup(CHECK_MS));
  add(pipeline, text, &params, PAWL_PG_BEGIN);
}

void pawl_pg_pipeline_begin(PawlPgPipeline *pipeline, PawlTx kind) {
  static const char *const begins[] = {[PAWL_TX_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [PAWL_TX_WRITE] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    [PAWL_TX_SERIALIZABLE] = "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"};
  add(pipeline, begins[kind], NULL, PAWL_PG_BEGIN);
  add_settings(pipeline);
}

/* ---- waiting ---- */

gboolean pawl_pg_interrupted(const PawlPg *pg) {
  struct pollfd fd = {.fd = pg->options.interrupt_fd, .events = POLLIN};
  return pg->options.interrupt_fd > 0 && poll(&fd, 1, 0) > 0;
}

static gboolean wait_for(PawlPg *pg, gboolean writable, gint64 until_us, gboolean interruptible) {
  struct pollfd fds[] = {{.fd = PQsocket(pg->conn), .events = (short)(POLLIN | (writable ? POLLOUT : 0))},
    {.fd = interruptible && pg->options.interrupt_fd > 0 ? pg->options.interrupt_fd : -1, .events = POLLIN}};
  for (;;) {
    gint64 left_us = until_us - g_get_monotonic_time();
    if (left_us <= 0) return FALSE;
    int n = poll(fds, G_N_ELEMENTS(fds), (int)MIN(left_us / 1000 + 1, G_MAXINT));
    if (n < 0 && errno == EINTR) continue;
    if (n > 0 && fds[1].revents != 0) return FALSE;
    if (n > 0) return TRUE;
  }
}

gboolean pawl_pg_wait(PawlPg *pg, gboolean writable, gint64 until_us) { return wait_for(pg, writable, until_us, TRUE); }

/* ---- cancelling ---- */

typedef struct {
  PGcancel *cancel;
  atomic_int refs;
  atomic_bool done;
} Cancel;

static void cancel_unref(Cancel *cancel) {
  if (atomic_fetch_sub(&cancel->refs, 1) > 1) return;
  PQfreeCancel(cancel->cancel);
  g_free(cancel);
}

static void *run_cancel(void *data) {
  Cancel *cancel = data;
  char ignored[256];
  PQcancel(cancel->cancel, ignored, sizeof ignored);
  atomic_store(&cancel->done, TRUE);
  cancel_unref(cancel);
  return NULL;
}

static Cancel *start_cancel(PawlPg *pg) {
  pthread_t thread;
  Cancel *cancel = g_new0(Cancel, 1);
  cancel->cancel = PQgetCancel(pg->conn);
  atomic_store(&cancel->refs, 2);
  if (cancel->cancel != NULL && pthread_create(&thread, NULL, run_cancel, cancel) == 0) {
    pthread_detach(thread);
    return cancel;
  }
  PQfreeCancel(cancel->cancel);
  g_free(cancel);
  return NULL;
}

/* A cancel that is still on its way could hit a later statement, so a connection is used on only when it has arrived. */
static gboolean cancel_arrived(Cancel *cancel, gint64 until_us) {
  while (!atomic_load(&cancel->done) && g_get_monotonic_time() < until_us) g_usleep(1000);
  gboolean arrived = atomic_load(&cancel->done);
  cancel_unref(cancel);
  return arrived;
}

/* ---- running ---- */

typedef enum { GOT, LOST, OVERDUE, INTERRUPTED } Wait;

typedef struct {
  PawlPgPipeline *pipeline;
  GPtrArray *results;
  gint64 until_us;
  gboolean interruptible;
  guint at;       /* the item whose result comes next */
  GError *failed; /* the first error */
  gboolean commit_sent;
  gboolean commit_unsure;
} Run;

static Wait why_not(const Run *run) { return run->interruptible && pawl_pg_interrupted(run->pipeline->pg) ? INTERRUPTED : OVERDUE; }

static Wait flush(Run *run) {
  PawlPg *pg = run->pipeline->pg;
  for (;;) {
    int left = PQflush(pg->conn);
    if (left == 0) return GOT;
    if (left < 0) return LOST;
    if (!wait_for(pg, TRUE, run->until_us, run->interruptible)) return why_not(run);
    if (!PQconsumeInput(pg->conn)) return LOST;
  }
}

static Wait until_result(Run *run) {
  PawlPg *pg = run->pipeline->pg;
  while (PQisBusy(pg->conn)) {
    if (!wait_for(pg, FALSE, run->until_us, run->interruptible)) return why_not(run);
    if (!PQconsumeInput(pg->conn) && PQisBusy(pg->conn)) return LOST;
  }
  return GOT;
}

static gboolean is_fatal(const PGresult *result) {
  const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity == NULL || g_str_equal(severity, "FATAL") || g_str_equal(severity, "PANIC");
}

static void take_failure(Run *run, const Item *item, const PGresult *result) {
  if (run->failed != NULL) return;
  /* libpq's own word, without a SQLSTATE: the server may have gone on to the COMMIT. */
  gboolean broke = PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL;
  if ((item->step == PAWL_PG_COMMIT && is_fatal(result)) || (broke && run->commit_sent)) run->commit_unsure = TRUE;
  if (!broke)
    pawl_pg_set_error(&run->failed, result, run->pipeline->where);
  else
    pawl_pg_set_lost(&run->failed, PAWL_ERROR_UNAVAILABLE, run->pipeline->pg->conn, run->pipeline->where);
}

static void take_commit(Run *run, const PGresult *result) {
  if (!g_str_equal(PQcmdStatus((PGresult *)result), "COMMIT"))
    g_set_error(&run->failed, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: the server rolled back instead of committing", run->pipeline->where);
  else if (run->pipeline->pg->warned)
    run->commit_unsure = TRUE;
}

/* TRUE: the sync came, it is over. */
static gboolean take_result(Run *run, PGresult *result) {
  const Item *item = run->at < run->pipeline->items->len ? &g_array_index(run->pipeline->items, Item, run->at) : NULL;
  ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_PIPELINE_SYNC) {
    PQclear(result);
    return TRUE;
  }
  if (status == PGRES_FATAL_ERROR && item != NULL) take_failure(run, item, result);
  if (status == PGRES_COMMAND_OK && item != NULL && item->step == PAWL_PG_COMMIT && run->failed == NULL) take_commit(run, result);
  if (item != NULL && item->step == PAWL_PG_STATEMENT && (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) && run->results != NULL)
    g_ptr_array_add(run->results, result);
  else
    PQclear(result);
  return FALSE;
}

static Wait collect(Run *run) {
  PawlPg *pg = run->pipeline->pg;
  for (;;) {
    Wait wait = until_result(run);
    if (wait != GOT) return wait;
    PGresult *result = PQgetResult(pg->conn);
    if (result == NULL) {
      if (PQstatus(pg->conn) == CONNECTION_BAD) return LOST;
      run->at++;
      pg->warned = FALSE; /* of a statement; only what is said while a COMMIT runs counts */
    } else if (take_result(run, result))
      return GOT;
    else if (PQstatus(pg->conn) == CONNECTION_BAD)
      return LOST;
  }
}

static gboolean send_all(Run *run) {
  PawlPgPipeline *pipeline = run->pipeline;
  PGconn *conn = pipeline->pg->conn;
  for (guint i = 0; i < pipeline->items->len; i++) {
    Item *item = &g_array_index(pipeline->items, Item, i);
    if (item->step == PAWL_PG_COMMIT) run->commit_sent = TRUE; /* what libpq has it may have sent */
    if (!PQsendQueryParams(conn, item->text, (int)item->params.n, item->params.types, (const char *const *)item->params.values,
          item->params.lengths, item->params.formats, 1))
      return FALSE;
    if (i % 256 == 255 && (PQflush(conn) < 0 || !PQconsumeInput(conn))) return FALSE;
  }
  return PQpipelineSync(conn) == 1;
}

/* The wait ended without all results. The connection is closed, unless a cancel brings it back. */
static void give_up(Run *run, Wait wait) {
  PawlPg *pg = run->pipeline->pg;
  gboolean back = FALSE;
  Cancel *cancel = run->pipeline->settles || run->pipeline->undoes || wait == LOST ? NULL : start_cancel(pg);
  if (cancel != NULL) {
    run->until_us = g_get_monotonic_time() + DRAIN_US;
    run->interruptible = FALSE;
    back = collect(run) == GOT;
    back = cancel_arrived(cancel, run->until_us) && back;
  }
  if (wait == LOST && run->failed == NULL) {
    pawl_pg_set_lost(&run->failed, PAWL_ERROR_UNAVAILABLE, pg->conn, run->pipeline->where);
    run->commit_unsure = run->commit_sent;
  } else if (wait != LOST) {
    run->commit_unsure = run->pipeline->settles && run->failed == NULL;
    g_clear_error(&run->failed);
    if (wait == INTERRUPTED)
      g_set_error(&run->failed, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s: interrupted", run->pipeline->where);
    else
      g_set_error(&run->failed, PAWL_ERROR, PAWL_ERROR_BUSY, "%s: no answer from the server within %" G_GINT64_FORMAT " ms",
        run->pipeline->where, pg->options.statement_ms + SLACK_MS);
  }
  if (back) return;
  pawl_pg_ghost_add(pg, run->pipeline->settles);
  pawl_pg_disconnect(pg);
}

gboolean pawl_pg_pipeline_run(PawlPgPipeline *pipeline, GPtrArray *results, GError **error) {
  PawlPg *pg = pipeline->pg;
  Run run = {.pipeline = pipeline,
    .results = results,
    .until_us = g_get_monotonic_time() + (pipeline->undoes ? DRAIN_US : (pg->options.statement_ms + SLACK_MS) * 1000),
    .interruptible = !pipeline->settles && !pipeline->undoes};
  pg->warned = FALSE;
  Wait wait = send_all(&run) ? flush(&run) : LOST;
  if (wait == GOT) wait = collect(&run);
  if (wait != GOT) give_up(&run, wait);
  if (run.commit_unsure) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_AMBIGUOUS, "%s: the outcome of the COMMIT is not known (%s)", pipeline->where,
      run.failed != NULL ? run.failed->message : "a standby that it must reach did not confirm it");
    g_clear_error(&run.failed);
    return FALSE;
  }
  if (run.failed == NULL) return TRUE;
  if (g_error_matches(run.failed, PAWL_ERROR, PAWL_ERROR_BUSY)) pawl_pg_ghosts_end_all(pg);
  g_propagate_error(error, run.failed);
  return FALSE;
}
