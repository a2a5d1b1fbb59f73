/* SPDX-License-Identifier: Apache-2.0 */
/* What db.c and the engines agree on. db.c keeps the rules that are the same everywhere: which engine a URL means, that values fit the
 * declared parameters, the states of a transaction, that a row fits the declared columns. An engine only does what it is told: it is
 * called when the rule allows it. A new engine is a PawlDbEngine and a line in db.c's table. */
#pragma once
#include "db/db.h"

/* One statement of the table, the same for every engine. `params` and `columns` hold one letter each: i int, t text, d id, b blob, r
 * real; a capital letter may be null. The names stand in the same order, a blank between them. */
typedef struct {
  const char *name, *params, *columns, *param_names, *column_names;
} PawlSqlInfo;
extern const PawlSqlInfo pawl_sql_info[PAWL_SQL_COUNT];
extern const char *const pawl_sqlite_sql[PAWL_SQL_COUNT];
extern const PawlMigration pawl_sqlite_migrations[]; /* ends with number 0 */

typedef struct PawlDbEngine PawlDbEngine;

struct PawlDb {
  const PawlDbEngine *engine;
  char *url;
  char version[48];
  PawlDbMode mode;
  PawlDbServer server;    /* generation 0: embedded */
  gboolean in_tx, failed; /* failed: an error fell inside the transaction, only rollback is legal */
  PawlTx kind;
};

struct PawlRows {
  PawlDb *db;
  PawlSql sql;
  gsize index;                  /* of the row of values */
  gboolean open, on_row, ended; /* ended: no more rows, an error, or the transaction is over */
};

struct PawlBell {
  const PawlDbEngine *engine;
};
struct PawlHold {
  const PawlDbEngine *engine;
};

typedef enum { PAWL_STEP_FAILED = -1, PAWL_STEP_END, PAWL_STEP_ROW } PawlStep;

struct PawlDbEngine {
  const char *name;
  PawlDb *(*open)(const PawlDbOptions *options, GError **error);
  void (*close)(PawlDb *db); /* frees it */
  const PawlMigration *migrations;

  /* Outside a transaction an exec is one of its own, all rows of it or none. `ret_changed` may be scribbled on in failure. */
  gboolean (*exec)(PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error);
  /* n_rows 1: values are borrowed for the call; more: until finish. step() sets rows->index. */
  PawlRows *(*query)(PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, GError **error);
  PawlStep (*step)(PawlRows *rows, GError **error);
  void (*finish)(PawlRows *rows);
  /* Null is PAWL_TYPE_NULL; an id reads as PAWL_TYPE_BLOB. Of text `ret_value->p` ends with a NUL. */
  void (*column)(PawlRows *rows, int column, PawlValue *ret_value);

  gboolean (*begin)(PawlDb *db, PawlTx kind, GError **error);
  /* The transaction is over in any case. */
  gboolean (*commit)(PawlDb *db, GError **error);
  /* Ends every open cursor as well. */
  void (*rollback)(PawlDb *db);
  guint (*live_rows)(const PawlDb *db); /* cursors that are open and not at their end */
  gboolean (*script)(PawlDb *db, const char *script, GError **error);

  PawlBell *(*bell_listen)(const PawlDb *db, GError **error);
  int (*bell_fd)(const PawlBell *bell);
  void (*bell_drain)(PawlBell *bell);
  void (*bell_close)(PawlBell *bell);
  void (*ring)(PawlDb *db);
  PawlHold *(*hold)(const PawlDb *db, GError **error);
  void (*hold_release)(PawlHold *hold);
  gint64 (*holder)(const PawlDb *db);
  void (*tidy)(PawlDb *db);
};

extern const PawlDbEngine pawl_sqlite_engine;
