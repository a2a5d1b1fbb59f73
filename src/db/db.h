/* SPDX-License-Identifier: Apache-2.0 */
/* db: the port to a database engine. A connection runs named statements, iterates rows, and opens and ends transactions; which engine it
 * is, is known below this header only (sqlite.c; postgres.c is a module that is opened on demand).
 *
 * Promises: every wait is bounded; an error's code says what to do (BUSY: try again; UNAVAILABLE: the store cannot be used now;
 * AMBIGUOUS: a COMMIT whose outcome is not known; INTERNAL: damaged or a bug); after an error inside a transaction only rollback is
 * legal. A connection belongs to one thread. Write transactions of one process on one store wait for each other in line (a fair lock in
 * the process), then for other processes (busy policy, at most `busy_ms`).
 *
 * Statements live in sql/<engine>/statements/NAME.sql; the build turns them into the table behind PawlSql (db/sql_ids.h: PAWL_SQL_NAME).
 * Each file begins with comment lines that state what it does, its parameters and its columns with their types:
 *
 *   -- run_insert: adds a run; a run of that id that exists is left alone.
 *   -- params: id:id trigger:id? nominal_at_ms:int? input:text?
 *   -- columns: -
 *   INSERT INTO runs (…) VALUES (?1, …) ON CONFLICT DO NOTHING;
 *
 * A file of PostgreSQL may say "-- many: yes" after its columns: each parameter is then an array with one element per row of values, and
 * the statement returns, before its declared columns, the ordinal (from 1) of the row of values that a row belongs to. In exec_many each
 * row returned counts as one row changed for that ordinal.
 *
 * Types: int (64 bits), text, id (16 bytes), blob, real; '?' = may be null. Instants are int and named _at_ms. In SQL the function
 * pawl_now_ms() is the one clock: on SQLite this machine's wall clock, on PostgreSQL the server's. */
#pragma once
#include "base/id.h"
#include "db/sql_ids.h"

#include <glib.h>

typedef struct PawlDb PawlDb;
typedef struct PawlRows PawlRows;

typedef enum { PAWL_DB_READ_WRITE, PAWL_DB_READ_ONLY /* no lock, no migration, nothing created */ } PawlDbMode;
typedef struct {
  const char *url; /* "sqlite:PATH"; "postgresql://…" */
  PawlDbMode mode;
  gboolean create;  /* make the store (and its folder, 0700) when it is missing */
  gint64 busy_ms;   /* how long a write waits for other processes; 0: 5 s */
  gint64 cache_kib; /* SQLite: page cache; 0: 512 */

  /* PostgreSQL */
  gint64 connect_ms;              /* how long one try to connect may take, name lookup included; 0: 5 s */
  gint64 statement_ms;            /* the longest wait for one statement, then it is cancelled and drained (BUSY); 0: 30 s */
  gint64 idle_ms;                 /* idle_in_transaction_session_timeout; 0: 5 s. Must stay below the claim lease */
  const char *synchronous_commit; /* NULL: "on"; never below "local" */
  const char *application;        /* application_name; NULL: "pawl" */
  int interrupt_fd;               /* while it polls readable every wait but that for a COMMIT ends at once (UNAVAILABLE); 0: none */
} PawlDbOptions;

/* PAWL_ERROR_CONFIG: not a URL that is known, a network file system, a store that another program made. UNAVAILABLE: cannot be opened
 * (the reason in the message). NOT_FOUND: missing and not to be created. */
PawlDb *pawl_db_open(const PawlDbOptions *options, GError **error);
void pawl_db_close(PawlDb *db);
const char *pawl_db_url(const PawlDb *db);    /* without a password */
const char *pawl_db_engine(const PawlDb *db); /* "sqlite" */
/* "SQLite 3.40.1", "PostgreSQL 15.18" */
const char *pawl_db_version(const PawlDb *db);

/* A connection to a server that broke is opened again by the next call outside a transaction: one try, and UNAVAILABLE when that fails, so
 * that the caller backs off. What was cached of the server is worth nothing then: who caches compares the generation. */
typedef struct {
  guint64 generation;     /* 1, and one more with every connection that was opened */
  gint64 pid, started_us; /* the backend, as pg_stat_activity knows it; of the last connection while there is none */
  guint64 system;         /* system identifier */
  guint timeline;
} PawlDbServer;
/* NULL: an embedded store. Borrowed. */
const PawlDbServer *pawl_db_server(const PawlDb *db);

/* ---- values ---- */
typedef enum { PAWL_TYPE_NULL, PAWL_TYPE_INT, PAWL_TYPE_TEXT, PAWL_TYPE_ID, PAWL_TYPE_BLOB, PAWL_TYPE_REAL } PawlType;
typedef struct {
  PawlType type;
  gsize bytes; /* BLOB */
  union {
    gint64 i;
    const void *p;
    double d;
  };
} PawlValue;
#define PAWL_INT(x) ((PawlValue){.type = PAWL_TYPE_INT, .i = (gint64)(x)})
#define PAWL_NULL ((PawlValue){.type = PAWL_TYPE_NULL})
static inline PawlValue pawl_text(const char *s) { return (PawlValue){.type = s != NULL ? PAWL_TYPE_TEXT : PAWL_TYPE_NULL, .p = s}; }
static inline PawlValue pawl_id(const PawlId *id) { return (PawlValue){.type = id != NULL ? PAWL_TYPE_ID : PAWL_TYPE_NULL, .p = id}; }
static inline PawlValue pawl_blob(const void *p, gsize bytes) { return (PawlValue){.type = PAWL_TYPE_BLOB, .bytes = bytes, .p = p}; }
/* null for 0, which stands for "none" in C */
static inline PawlValue pawl_int_or_null(gint64 x) { return x != 0 ? PAWL_INT(x) : PAWL_NULL; }
#define PAWL_ROW(...) ((const PawlValue[]){__VA_ARGS__}), (sizeof((const PawlValue[]){__VA_ARGS__}) / sizeof(PawlValue))
#define PAWL_NO_PARAMS NULL, 0

/* ---- statements ---- */
/* Values are borrowed until the call returns. `ret_changed`: rows changed; may be NULL. */
gboolean pawl_db_exec(PawlDb *db, PawlSql sql, gint64 *ret_changed, GError **error, const PawlValue *values, gsize n_values);
/* Runs a statement once per row of values, in order, in one round trip where the engine has that. Outside a transaction it is one
 * of its own: all rows or none. `values` has n_rows * n_values entries; `ret_changed` n_rows entries or NULL. */
gboolean pawl_db_exec_many(
  PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error);
/* A query, once per row of values: the rows come in the order of the rows of values, and pawl_rows_index() says for which of them (from 0) the
 * present one is. `values` is borrowed until the rows are closed. Otherwise as pawl_db_query(). */
PawlRows *pawl_db_query_many(PawlDb *db, PawlSql sql, GError **error, const PawlValue *values, gsize n_values, gsize n_rows);
gsize pawl_rows_index(const PawlRows *rows);
/* A cursor; one statement may be open once at a time on a connection. Read it to its end or close it before the transaction ends (commit
 * refuses, rollback ends it), and outside a transaction before the next write. A statement that writes and returns rows needs a
 * transaction. */
PawlRows *pawl_db_query(PawlDb *db, PawlSql sql, GError **error, const PawlValue *values, gsize n_values);
/* TRUE: a row stands there. FALSE with *error set: failed; FALSE without: no more rows. */
gboolean pawl_rows_next(PawlRows *rows, GError **error);
void pawl_rows_close(PawlRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlRows, pawl_rows_close)
/* Columns from 0. Null reads as 0, NULL, the zero id. Text and blobs are borrowed until the next row. */
gint64 pawl_rows_int(PawlRows *rows, int column);
double pawl_rows_real(PawlRows *rows, int column);
const char *pawl_rows_text(PawlRows *rows, int column);
PawlId pawl_rows_id(PawlRows *rows, int column);
const void *pawl_rows_blob(PawlRows *rows, int column, gsize *ret_bytes);
gboolean pawl_rows_is_null(PawlRows *rows, int column);

/* ---- transactions ---- */
/* On PostgreSQL a transaction begins in one round trip with its first statement: isolation, READ WRITE or READ ONLY, and the settings that
 * it relies on, whatever the defaults of the server, the role and a pooler are. */
typedef enum {
  PAWL_TX_READ,        /* one snapshot */
  PAWL_TX_WRITE,       /* SQLite: BEGIN IMMEDIATE; PostgreSQL: READ COMMITTED, each statement sees what was committed before it */
  PAWL_TX_SERIALIZABLE /* SQLite: the same as WRITE */
} PawlTx;
gboolean pawl_db_begin(PawlDb *db, PawlTx kind, GError **error);
/* FALSE: AMBIGUOUS, or any other code: definitely not committed. Either way the transaction is over. */
gboolean pawl_db_commit(PawlDb *db, GError **error);
/* Legal always; does nothing outside a transaction. */
void pawl_db_rollback(PawlDb *db);
gboolean pawl_db_in_transaction(const PawlDb *db);

/* ---- schema scripts (migrations) ---- */
typedef struct {
  gint number;
  const char *name, *sql;
} PawlMigration;
/* The engine's migrations, ascending. */
const PawlMigration *pawl_db_migrations(const PawlDb *db, gsize *ret_n);
/* Several statements, inside the caller's transaction. Only for migrations. */
gboolean pawl_db_script(PawlDb *db, const char *script, GError **error);

/* ---- wake-ups across processes ---- */
typedef struct PawlBell PawlBell;
/* Listens beside the store (a FIFO on SQLite). `fd` polls readable once somebody rang; pawl_bell_drain() empties it. */
PawlBell *pawl_bell_listen(const PawlDb *db, GError **error);
int pawl_bell_fd(const PawlBell *bell);
void pawl_bell_drain(PawlBell *bell);
void pawl_bell_close(PawlBell *bell);
/* Wakes whoever listens; nobody there is no error. */
void pawl_db_ring(PawlDb *db);

/* ---- one scheduler per embedded store ---- */
typedef struct PawlHold PawlHold;
/* Takes the store for this process until it is released or the process ends. PAWL_ERROR_BUSY names the holder's pid. */
PawlHold *pawl_db_hold(const PawlDb *db, GError **error);
void pawl_hold_release(PawlHold *hold);
/* The pid of a live holder, 0 when there is none; -1: somebody holds it, and who cannot be read. */
gint64 pawl_db_holder(const PawlDb *db);

/* ---- upkeep ---- */
/* Hands back memory and truncates the log where that costs nothing. */
void pawl_db_tidy(PawlDb *db);
