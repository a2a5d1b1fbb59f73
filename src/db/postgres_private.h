/* SPDX-License-Identifier: Apache-2.0 */
/* postgres: the engine for PostgreSQL, a module of its own.
 *
 *   postgres.c            the engine's table, transactions, statements
 *   postgres_connect.c    connecting under a deadline, what the server is
 *   postgres_wire.c       one pipeline: sending, waiting, cancelling, its results
 *   postgres_ghost.c      backends that lost connections left behind
 *   postgres_value.c      values to and from the binary format, arrays
 *   postgres_rows.c       cursors over buffered results
 *   postgres_error.c      SQLSTATE to error code
 *   postgres_bell.c       LISTEN, on a thread and a connection of its own
 *
 * Everything is sent unnamed, in pipelines: a transaction begins in one round trip with its first statement, and a write outside a
 * transaction is BEGIN, settings, statement and COMMIT in one. Results are buffered whole, so any number of cursors may be open beside other
 * statements; statements that lock return little, and lists have limits.
 *
 * Waits end at their deadline or when the caller's interrupt_fd polls readable. Then the statement is cancelled (on a thread of its own,
 * because libpq's cancel blocks) and drained; what does not drain in time, and everything that holds a COMMIT, is never cancelled: the
 * connection is closed, and if a COMMIT was under way the error is AMBIGUOUS. */
#pragma once
#include "base/error.h"
#include "db/db_private.h"

#include <libpq-fe.h>

extern const char *const pawl_postgres_sql[PAWL_SQL_COUNT];
extern const PawlMigration pawl_postgres_migrations[]; /* ends with number 0 */
extern const gboolean pawl_postgres_many[PAWL_SQL_COUNT];

typedef struct {
  PawlRows rows;
  GPtrArray *results; /* PGresult, owned; one for each row of values, or one for all with the ordinal in front */
  guint result;
  int row;
  int skip; /* columns before the declared ones: 1 where the ordinal stands */
} PawlPgRows;

typedef struct {
  PawlDb base;
  PGconn *conn; /* NULL: not connected */
  PawlDbOptions options;
  char *url, *application, *synchronous_commit;
  gboolean begun;  /* BEGIN was sent */
  gboolean direct; /* no pooler between: the backend is this connection's alone */
  GArray *ghosts;  /* see postgres_ghost.c. NULL: none yet */
  gint64 ghosts_look_us;
  gboolean warned;    /* a warning of class 01 came: in a COMMIT it makes the outcome ambiguous */
  gboolean dismissed; /* the server said that it ends the connection */
  guint n_open, n_live;
  PawlPgRows cursors[PAWL_SQL_COUNT];
} PawlPg;

/* ---- postgres_value.c ---- */
typedef struct {
  guint n;
  Oid *types;
  char **values;
  int *lengths, *formats;
  GPtrArray *owned;
} PawlPgParams;
/* One row of values, or `n_rows` as arrays. Text and ids of a single row are borrowed. */
void pawl_pg_params_init(PawlPgParams *params, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gboolean arrays);
void pawl_pg_params_clear(PawlPgParams *params);
/* Whether pawl_pg_value() can read columns of a type, and as what: PAWL_TYPE_NULL when it can't, BLOB for ids. */
PawlType pawl_pg_type(Oid type);
void pawl_pg_value(const PGresult *result, int row, int column, PawlValue *ret_value);

/* ---- postgres_wire.c ---- */
#define PAWL_PG_CHUNK 10000 /* rows of values in one array */

typedef enum { PAWL_PG_BEGIN, PAWL_PG_STATEMENT, PAWL_PG_COMMIT } PawlPgStep;
typedef struct PawlPgPipeline PawlPgPipeline;
/* A pipeline holds the texts and parameters until it ran. `settles`: it holds a COMMIT, or is one. */
PawlPgPipeline *pawl_pg_pipeline_new(PawlPg *pg, const char *where);
void pawl_pg_pipeline_begin(PawlPgPipeline *pipeline, PawlTx kind);
void pawl_pg_pipeline_add(PawlPgPipeline *pipeline, const char *text, const PawlPgParams *params /* NULL: none */);
void pawl_pg_pipeline_commit(PawlPgPipeline *pipeline);
/* ROLLBACK: not interrupted, and given up soon, because closing the connection does the same. */
void pawl_pg_pipeline_rollback(PawlPgPipeline *pipeline);
/* Sends it and waits. The results of what was added are appended to `results` (PGresult, owned by the array). After a failure the
 * transaction, if one is open on the connection, is in error, or the connection is closed. */
gboolean pawl_pg_pipeline_run(PawlPgPipeline *pipeline, GPtrArray *results, GError **error);
void pawl_pg_pipeline_free(PawlPgPipeline *pipeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlPgPipeline, pawl_pg_pipeline_free)
/* Waits until the socket is readable (or writable too). FALSE: deadline or interrupt. `until_us` on g_get_monotonic_time(). */
gboolean pawl_pg_wait(PawlPg *pg, gboolean writable, gint64 until_us);
gboolean pawl_pg_interrupted(const PawlPg *pg);

/* ---- postgres_hosts.c ---- */
/* Polls a connection that was started, over the hosts that it names: each has an equal part of what is left until `until_us`. GOT, or why
 * not; OVERDUE with *ret_rest set: that many hosts at the end of the list were not tried, because the one before them did not answer. */
typedef enum { PAWL_PG_CONNECTED, PAWL_PG_REFUSED, PAWL_PG_SILENT, PAWL_PG_INTERRUPTED } PawlPgReach;
PawlPgReach pawl_pg_reach(PawlPg *pg, gint64 until_us, guint *ret_rest);
/* The last n entries of a list with commas; a list of one stands for all. NULL: NULL. Caller g_free()s. */
char *pawl_pg_last_of(const char *list, guint n);

/* ---- postgres_connect.c ---- */
gboolean pawl_pg_connect(PawlPg *pg, GError **error);
void pawl_pg_disconnect(PawlPg *pg);
/* The URL without its password, for people. Caller g_free()s. FALSE with CONFIG: no URL that libpq understands. */
char *pawl_pg_public_url(const char *url, GError **error);
PawlPg *pawl_pg_new(const PawlDbOptions *options);
void pawl_pg_free(PawlPg *pg);

/* ---- postgres_ghost.c ---- */
/* The connection is to be closed without the server's knowledge. `commits`: a COMMIT may be under way on it. */
void pawl_pg_ghost_add(PawlPg *pg, gboolean commits);
/* Outside a transaction: ends the backends of the connections before, as far as they are still there. It may find the connection broken. */
void pawl_pg_ghosts_lay(PawlPg *pg);
/* A lock was not to be had: the next look ends them whatever they do. */
void pawl_pg_ghosts_end_all(PawlPg *pg);

/* ---- postgres_rows.c ---- */
/* INTERNAL: the columns are not as many, or of other types, than declared, or an ordinal names no row of values. */
gboolean pawl_pg_rows_fit(PawlSql sql, const GPtrArray *results, gboolean ordinal, gsize n_rows, GError **error);
PawlRows *pawl_pg_rows_open(PawlPg *pg, PawlSql sql, GPtrArray *results /* taken */, gboolean ordinal);
PawlStep pawl_pg_rows_step(PawlRows *rows, GError **error);
void pawl_pg_rows_finish(PawlRows *rows);
void pawl_pg_rows_column(PawlRows *rows, int column, PawlValue *ret_value);
void pawl_pg_rows_end_all(PawlPg *pg);

/* ---- postgres_error.c ---- */
/* The code for a SQLSTATE; NULL: the connection broke. */
PawlError pawl_pg_code(const char *sqlstate);
/* Sets the error for a failed result: statement, SQLSTATE, the server's primary message. */
void pawl_pg_set_error(GError **error, const PGresult *result, const char *where);
/* The same for a connection that broke or never came to be. */
void pawl_pg_set_lost(GError **error, PawlError code, const PGconn *conn, const char *where);

/* ---- postgres_bell.c ---- */
PawlBell *pawl_pg_bell_listen(const PawlDb *db, GError **error);
int pawl_pg_bell_fd(const PawlBell *bell);
void pawl_pg_bell_drain(PawlBell *bell);
void pawl_pg_bell_close(PawlBell *bell);

extern const PawlDbEngine pawl_postgres_engine;
