/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's table: opening, statements, transactions. */
#include "base/error.h"
#include "base/fault.h"
#include "base/module.h"
#include "db/postgres_private.h"

#include <poll.h>
#include <string.h>

/* ---- opening ---- */

static PawlDb *open_postgres(const PawlDbOptions *options, GError **error) {
  PawlPg *pg = pawl_pg_new(options);
  pg->base.url = pawl_pg_public_url(options->url, error);
  if (pg->base.url != NULL && pawl_pg_connect(pg, error)) return &pg->base;
  pawl_pg_free(pg);
  return NULL;
}

static void close_postgres(PawlDb *base) { pawl_pg_free((PawlPg *)base); }

/* ---- the connection ---- */

static gboolean alive(const PawlPg *pg) { return pg->conn != NULL && PQstatus(pg->conn) == CONNECTION_OK; }

static gboolean readable(const PawlPg *pg) {
  struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
  return poll(&fd, 1, 0) > 0;
}

/* A server that ended the connection while it was idle has said so, and nothing was read since. Its last word comes by one read and the
 * end of the stream by the next, so all that is there is read; the word alone is enough. */
static gboolean ended_while_idle(PawlPg *pg) {
  do {
    gboolean read = PQconsumeInput(pg->conn) && !PQisBusy(pg->conn);
    if (!read || pg->dismissed || PQstatus(pg->conn) != CONNECTION_OK) return TRUE;
  } while (readable(pg));
  return FALSE;
}

static gboolean ready(PawlPg *pg, const char *where, GError **error) {
  if (pg->base.in_tx) {
    if (alive(pg)) return TRUE;
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "%s: the connection broke inside the transaction", where);
    return FALSE;
  }
  if (!alive(pg) || ended_while_idle(pg)) return pawl_pg_connect(pg, error);
  pawl_pg_ghosts_lay(pg);
  return alive(pg) || pawl_pg_connect(pg, error);
}

static gboolean bug(PawlSql sql, const char *what, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: %s", pawl_sql_info[sql].name, what);
  return FALSE;
}

static gboolean may_run(PawlPg *pg, PawlSql sql, GError **error) {
  if (pawl_postgres_sql[sql] == NULL) return bug(sql, "PostgreSQL has no such statement", error);
  if (pg->cursors[sql].rows.open) return bug(sql, "it is open already", error);
  return ready(pg, pawl_sql_info[sql].name, error);
}

/* The statement once per row of values, or in arrays. */
static void add_rows(PawlPgPipeline *pipeline, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows) {
  gboolean arrays = pawl_postgres_many[sql];
  gsize step = arrays ? PAWL_PG_CHUNK : 1;
  for (gsize i = 0; i < n_rows; i += step) {
    PawlPgParams params;
    pawl_pg_params_init(&params, sql, values + i * n_values, n_values, MIN(step, n_rows - i), arrays);
    pawl_pg_pipeline_add(pipeline, pawl_postgres_sql[sql], &params);
  }
}

/* Leaves a transaction that only this call opened. */
static void undo(PawlPg *pg) {
  if (!alive(pg) || PQtransactionStatus(pg->conn) == PQTRANS_IDLE) return;
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "rollback");
  pawl_pg_pipeline_rollback(pipeline);
  if (!pawl_pg_pipeline_run(pipeline, NULL, NULL)) pawl_pg_disconnect(pg);
}

/* In a transaction: its BEGIN, if it was not sent yet, goes in front. */
static gboolean run_inside(PawlPg *pg, PawlPgPipeline *pipeline, GPtrArray *results, GError **error) {
  gboolean ok = pawl_pg_pipeline_run(pipeline, results, error);
  pg->begun = alive(pg);
  return ok;
}

static void add_begin(PawlPg *pg, PawlPgPipeline *pipeline) {
  if (!pg->begun) pawl_pg_pipeline_begin(pipeline, pg->base.kind);
}

static PawlTx alone_kind(const PawlDb *base) { return base->mode == PAWL_DB_READ_ONLY ? PAWL_TX_READ : PAWL_TX_WRITE; }

/* Outside a transaction; `wrapped`: a BEGIN was added, so its COMMIT comes behind. */
static gboolean run_alone(PawlPg *pg, PawlPgPipeline *pipeline, gboolean wrapped, GPtrArray *results, GError **error) {
  if (wrapped) pawl_pg_pipeline_commit(pipeline);
  gboolean ok = pawl_pg_pipeline_run(pipeline, results, error);
  if (!ok && wrapped) undo(pg);
  return ok;
}

/* ---- exec ---- */

static gint64 ordinal_at(const PGresult *result, int row) {
  PawlValue value;
  pawl_pg_value(result, row, 0, &value);
  return value.type == PAWL_TYPE_INT ? value.i : 0;
}

static void count_changes(PawlSql sql, const GPtrArray *results, gsize n_rows, gint64 *changed) {
  for (guint i = 0; i < results->len; i++) {
    PGresult *result = g_ptr_array_index(results, i);
    if (!pawl_postgres_many[sql]) {
      changed[i] = g_ascii_strtoll(PQcmdTuples(result), NULL, 10);
      continue;
    }
    for (int row = 0; row < PQntuples(result); row++) {
      gsize at = (gsize)i * PAWL_PG_CHUNK + (gsize)ordinal_at(result, row) - 1;
      if (at < n_rows) changed[at]++;
    }
  }
}

static gboolean exec_postgres(
  PawlDb *base, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error) {
  PawlPg *pg = (PawlPg *)base;
  if (!may_run(pg, sql, error)) return FALSE;
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, pawl_sql_info[sql].name);
  g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)PQclear);
  gboolean ok;
  if (base->in_tx) {
    add_begin(pg, pipeline);
    add_rows(pipeline, sql, values, n_values, n_rows);
    ok = run_inside(pg, pipeline, results, error);
  } else {
    pawl_pg_pipeline_begin(pipeline, alone_kind(base));
    add_rows(pipeline, sql, values, n_values, n_rows);
    ok = run_alone(pg, pipeline, TRUE, results, error);
  }
  if (ok && ret_changed != NULL) count_changes(sql, results, n_rows, ret_changed);
  return ok;
}

/* ---- query ---- */

static gboolean only_reads(const char *text) {
  return strstr(text, "INSERT ") == NULL && strstr(text, "UPDATE") == NULL && strstr(text, "DELETE ") == NULL;
}

/* Whether a function of pawl's own is called, but for the clock. It may write, so outside a transaction the statement gets one. */
static gboolean calls(const char *text) {
  for (const char *at = strstr(text, "pawl."); at != NULL; at = strstr(at + 1, "pawl.")) {
    const char *end = at + strlen("pawl.");
    while (g_ascii_isalnum(*end) || *end == '_') end++;
    if (*end == '(' && !g_str_has_prefix(at, "pawl.now_ms(")) return TRUE;
  }
  return FALSE;
}

static PawlRows *query_postgres(PawlDb *base, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, GError **error) {
  PawlPg *pg = (PawlPg *)base;
  if (!may_run(pg, sql, error)) return NULL;
  if (!base->in_tx && !only_reads(pawl_postgres_sql[sql])) {
    bug(sql, "a statement that writes, or locks, and returns rows needs a transaction", error);
    return NULL;
  }
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, pawl_sql_info[sql].name);
  g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)PQclear);
  gboolean wrapped = !base->in_tx && calls(pawl_postgres_sql[sql]);
  if (base->in_tx) add_begin(pg, pipeline);
  if (wrapped) pawl_pg_pipeline_begin(pipeline, alone_kind(base));
  add_rows(pipeline, sql, values, n_values, n_rows);
  gboolean ok = n_rows == 0 || (base->in_tx ? run_inside(pg, pipeline, results, error) : run_alone(pg, pipeline, wrapped, results, error));
  if (ok && pawl_pg_rows_fit(sql, results, pawl_postgres_many[sql], n_rows, error))
    return pawl_pg_rows_open(pg, sql, g_steal_pointer(&results), pawl_postgres_many[sql]);
  return NULL;
}

static guint live_rows(const PawlDb *base) { return ((const PawlPg *)base)->n_live; }

/* ---- transactions ---- */

/* Its BEGIN goes out with the first statement. */
static gboolean begin_postgres(PawlDb *base, PawlTx kind, GError **error) {
  PawlPg *pg = (PawlPg *)base;
  pg->begun = FALSE;
  return ready(pg, "begin", error);
}

static gboolean commit_postgres(PawlDb *base, GError **error) {
  PawlPg *pg = (PawlPg *)base;
  if (!pg->begun) return TRUE;
  pg->begun = FALSE;
  if (!alive(pg)) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE, "commit: the connection broke before it; nothing was committed");
    return FALSE;
  }
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "commit");
  pawl_pg_pipeline_commit(pipeline);
  gboolean ok = pawl_pg_pipeline_run(pipeline, NULL, error);
  if (!ok) undo(pg);
  return ok;
}

static void rollback_postgres(PawlDb *base) {
  PawlPg *pg = (PawlPg *)base;
  pawl_pg_rows_end_all(pg);
  if (pg->begun) undo(pg);
  pg->begun = FALSE;
}

/* ---- scripts ---- */

static void leave(PawlPg *pg, GError **error) {
  pawl_pg_set_lost(error, PAWL_ERROR_UNAVAILABLE, pg->conn, "script");
  pawl_pg_ghost_add(pg, FALSE);
  pawl_pg_disconnect(pg);
}

static gboolean take_script(PawlPg *pg, gint64 until_us, GError **error) {
  gboolean ok = TRUE;
  for (;;) {
    while (PQisBusy(pg->conn))
      if (!pawl_pg_wait(pg, FALSE, until_us) || !PQconsumeInput(pg->conn)) {
        leave(pg, error);
        return FALSE;
      }
    PGresult *result = PQgetResult(pg->conn);
    if (result == NULL) return ok;
    ExecStatusType status = PQresultStatus(result);
    if (ok && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      pawl_pg_set_error(error, result, "script");
      ok = FALSE;
    }
    PQclear(result);
  }
}

/* Several statements in one text go by the simple protocol only, outside pipeline mode. */
static gboolean script_postgres(PawlDb *base, const char *script, GError **error) {
  PawlPg *pg = (PawlPg *)base;
  if (!ready(pg, "script", error)) return FALSE;
  if (!pg->begun) {
    g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "begin");
    pawl_pg_pipeline_begin(pipeline, base->kind);
    if (!run_inside(pg, pipeline, NULL, error)) return FALSE;
  }
  gint64 until_us = g_get_monotonic_time() + pg->options.statement_ms * 1000;
  gboolean sent = PQexitPipelineMode(pg->conn) && PQsendQuery(pg->conn, script);
  while (sent && PQflush(pg->conn) == 1) sent = pawl_pg_wait(pg, TRUE, until_us) && PQconsumeInput(pg->conn);
  if (!sent) {
    leave(pg, error);
    return FALSE;
  }
  if (!take_script(pg, until_us, error)) {
    if (alive(pg)) PQenterPipelineMode(pg->conn);
    return FALSE;
  }
  if (PQenterPipelineMode(pg->conn)) return TRUE;
  pawl_pg_set_lost(error, PAWL_ERROR_UNAVAILABLE, pg->conn, "script");
  return FALSE;
}

/* ---- wake-ups, the hold ---- */

static void ring_postgres(PawlDb *base) {
  PawlPg *pg = (PawlPg *)base;
  if (base->in_tx || !alive(pg)) return;
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "ring");
  /* A notification takes a transaction id, so its end would wait for a standby; nothing is lost with it. */
  pawl_pg_pipeline_add(pipeline, "SELECT set_config('synchronous_commit', 'off', true), pg_notify('pawl', '')", NULL);
  pawl_pg_pipeline_run(pipeline, NULL, NULL); /* who listens looks again by himself as well */
}

/* Any number of replicas schedule on one server. */
static PawlHold *hold_postgres(const PawlDb *base, GError **error) {
  PawlHold *hold = g_new0(PawlHold, 1);
  hold->engine = &pawl_postgres_engine;
  return hold;
}

static void hold_release_postgres(PawlHold *hold) { g_free(hold); }
static gint64 holder_postgres(const PawlDb *base) { return 0; }
static void tidy_postgres(PawlDb *base) {}

const PawlDbEngine pawl_postgres_engine = {
  .name = "postgresql",
  .open = open_postgres,
  .close = close_postgres,
  .migrations = pawl_postgres_migrations,
  .exec = exec_postgres,
  .query = query_postgres,
  .step = pawl_pg_rows_step,
  .finish = pawl_pg_rows_finish,
  .column = pawl_pg_rows_column,
  .begin = begin_postgres,
  .commit = commit_postgres,
  .rollback = rollback_postgres,
  .live_rows = live_rows,
  .script = script_postgres,
  .bell_listen = pawl_pg_bell_listen,
  .bell_fd = pawl_pg_bell_fd,
  .bell_drain = pawl_pg_bell_drain,
  .bell_close = pawl_pg_bell_close,
  .ring = ring_postgres,
  .hold = hold_postgres,
  .hold_release = hold_release_postgres,
  .holder = holder_postgres,
  .tidy = tidy_postgres,
};

extern const PawlModule pawl_module;
const PawlModule pawl_module = {.version = PAWL_VERSION, .table = &pawl_postgres_engine};
