/* SPDX-License-Identifier: Apache-2.0 */
#include "db/db.h"

#include "base/error.h"
#include "base/module.h"
#include "db/db_private.h"

#include <string.h>

static const struct {
  const char *scheme;
  const PawlDbEngine *engine; /* NULL: in a module */
  const char *module;
} engines[] = {
  {"sqlite:", &pawl_sqlite_engine, NULL},
  {"postgresql:", NULL, "postgres"},
  {"postgres:", NULL, "postgres"},
};

PawlDb *pawl_db_open(const PawlDbOptions *options, GError **error) {
  const char *url = options->url != NULL ? options->url : "";
  for (gsize i = 0; i < G_N_ELEMENTS(engines); i++) {
    if (!g_str_has_prefix(url, engines[i].scheme)) continue;
    const PawlDbEngine *engine = engines[i].engine != NULL ? engines[i].engine : pawl_module_open(engines[i].module, error);
    return engine != NULL ? engine->open(options, error) : NULL;
  }
  /* What stands before the first colon cannot hold a password. */
  g_autofree char *scheme = g_strndup(url, strcspn(url, ":"));
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
    strchr(url, ':') != NULL ? "'%.20s:' is no database that pawl knows: write sqlite:PATH or postgresql://HOST/DATABASE"
                             : "'%.80s' is no database URL: write sqlite:PATH or postgresql://HOST/DATABASE",
    scheme);
  return NULL;
}

void pawl_db_close(PawlDb *db) {
  if (db == NULL) return;
  pawl_db_rollback(db);
  db->engine->close(db);
}

const char *pawl_db_url(const PawlDb *db) { return db->url; }
const char *pawl_db_engine(const PawlDb *db) { return db->engine->name; }
const char *pawl_db_version(const PawlDb *db) { return db->version; }
const PawlDbServer *pawl_db_server(const PawlDb *db) { return db->server.generation != 0 ? &db->server : NULL; }

/* ---- values against the declared parameters ---- */

static const char letters[] = {[PAWL_TYPE_NULL] = '-',
  [PAWL_TYPE_INT] = 'i',
  [PAWL_TYPE_TEXT] = 't',
  [PAWL_TYPE_ID] = 'd',
  [PAWL_TYPE_BLOB] = 'b',
  [PAWL_TYPE_REAL] = 'r'};

static const char *type_word(char letter) {
  switch (g_ascii_tolower(letter)) {
  case 'i': return "int";
  case 't': return "text";
  case 'd': return "id";
  case 'b': return "blob";
  case 'r': return "real";
  default: return "null";
  }
}

/* The word at `index` of a list with blanks, for messages. */
static char *word_at(const char *words, gsize index) {
  g_auto(GStrv) list = g_strsplit(words, " ", -1);
  return g_strdup(index < g_strv_length(list) ? list[index] : "?");
}

static gboolean bug(PawlSql sql, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean bug(PawlSql sql, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *what = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: %s", pawl_sql_info[sql].name, what);
  return FALSE;
}

static gboolean fits(char declared, const PawlValue *value) {
  if ((guint)value->type >= G_N_ELEMENTS(letters)) return FALSE;
  if (value->type == PAWL_TYPE_NULL) return g_ascii_isupper(declared);
  if (value->type != PAWL_TYPE_INT && value->type != PAWL_TYPE_REAL && value->p == NULL &&
      (value->type != PAWL_TYPE_BLOB || value->bytes > 0))
    return FALSE;
  return letters[value->type] == g_ascii_tolower(declared);
}

static gboolean check_values(PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, GError **error) {
  const char *params = pawl_sql_info[sql].params;
  gsize n_params = strlen(params);
  if (n_values != n_params) return bug(sql, error, "takes %" G_GSIZE_FORMAT " parameters, got %" G_GSIZE_FORMAT, n_params, n_values);
  for (gsize i = 0; i < n_values * n_rows; i++) {
    char declared = params[i % n_params];
    if (fits(declared, &values[i])) continue;
    g_autofree char *name = word_at(pawl_sql_info[sql].param_names, i % n_params);
    guint type = (guint)values[i].type;
    return bug(sql, error, "parameter %" G_GSIZE_FORMAT " (%s) is %s and got %s", i % n_params + 1, name, type_word(declared),
      type < G_N_ELEMENTS(letters) ? type_word(letters[type]) : "no value");
  }
  return TRUE;
}

/* ---- statements ---- */

/* Whether a statement may run at all now. */
static gboolean ready(PawlDb *db, PawlSql sql, GError **error) {
  if ((guint)sql >= PAWL_SQL_COUNT) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "there is no statement %d", (int)sql);
    return FALSE;
  }
  if (!db->failed) return TRUE;
  return bug(sql, error, "an earlier statement of this transaction failed, so only rollback is legal");
}

static gboolean note(PawlDb *db, gboolean ok) {
  if (!ok && db->in_tx) db->failed = TRUE;
  return ok;
}

gboolean pawl_db_exec(PawlDb *db, PawlSql sql, gint64 *ret_changed, GError **error, const PawlValue *values, gsize n_values) {
  gint64 changed = 0;
  gboolean ok = ready(db, sql, error) && check_values(sql, values, n_values, 1, error) &&
                db->engine->exec(db, sql, values, n_values, 1, &changed, error);
  if (ok && ret_changed != NULL) *ret_changed = changed;
  return note(db, ok);
}

gboolean pawl_db_exec_many(
  PawlDb *db, PawlSql sql, const PawlValue *values, gsize n_values, gsize n_rows, gint64 *ret_changed, GError **error) {
  if (!ready(db, sql, error) || !check_values(sql, values, n_values, n_rows, error)) return note(db, FALSE);
  if (n_rows == 0) return TRUE;
  g_autofree gint64 *changed = ret_changed != NULL ? g_new0(gint64, n_rows) : NULL;
  gboolean ok = db->engine->exec(db, sql, values, n_values, n_rows, changed, error);
  if (ok && ret_changed != NULL) memcpy(ret_changed, changed, n_rows * sizeof *changed);
  return note(db, ok);
}

PawlRows *pawl_db_query_many(PawlDb *db, PawlSql sql, GError **error, const PawlValue *values, gsize n_values, gsize n_rows) {
  PawlRows *rows = NULL;
  if (ready(db, sql, error) && check_values(sql, values, n_values, n_rows, error))
    rows = db->engine->query(db, sql, values, n_values, n_rows, error);
  note(db, rows != NULL);
  return rows;
}

PawlRows *pawl_db_query(PawlDb *db, PawlSql sql, GError **error, const PawlValue *values, gsize n_values) {
  return pawl_db_query_many(db, sql, error, values, n_values, 1);
}

/* A row that is not what its file declares would be read as something else: that is a bug or damage, and is said. */
static gboolean check_row(PawlRows *rows, GError **error) {
  const char *declared = pawl_sql_info[rows->sql].columns;
  for (int i = 0; declared[i] != '\0'; i++) {
    PawlValue value;
    rows->db->engine->column(rows, i, &value);
    char want = g_ascii_tolower(declared[i]);
    if (value.type == PAWL_TYPE_NULL) {
      if (g_ascii_isupper(declared[i])) continue;
    } else if (want == 'd') {
      if (value.type == PAWL_TYPE_BLOB && value.bytes == PAWL_ID_BYTES) continue;
    } else if (letters[value.type] == want) {
      continue;
    }
    g_autofree char *name = word_at(pawl_sql_info[rows->sql].column_names, (gsize)i);
    return bug(
      rows->sql, error, "column %d (%s) is declared %s and holds %s", i + 1, name, type_word(want), type_word(letters[value.type]));
  }
  return TRUE;
}

gboolean pawl_rows_next(PawlRows *rows, GError **error) {
  rows->on_row = FALSE;
  if (!rows->open) return bug(rows->sql, error, "the cursor was closed, or its transaction is over");
  if (rows->ended) return FALSE;
  PawlStep step = rows->db->failed ? PAWL_STEP_FAILED : rows->db->engine->step(rows, error);
  if (rows->db->failed) bug(rows->sql, error, "an earlier statement of this transaction failed, so only rollback is legal");
  if (step == PAWL_STEP_ROW && !check_row(rows, error)) step = PAWL_STEP_FAILED;
  rows->on_row = step == PAWL_STEP_ROW;
  rows->ended = step != PAWL_STEP_ROW;
  note(rows->db, step != PAWL_STEP_FAILED);
  return rows->on_row;
}

void pawl_rows_close(PawlRows *rows) {
  if (rows != NULL && rows->open) rows->db->engine->finish(rows);
}

gsize pawl_rows_index(const PawlRows *rows) { return rows->index; }

/* FALSE: null. Another column than the file declares is a bug of the caller, so it is said loudly and reads as null. */
static gboolean column(PawlRows *rows, int index, char letter, PawlValue *ret_value) {
  const char *declared = pawl_sql_info[rows->sql].columns;
  g_return_val_if_fail(rows->on_row, FALSE);
  g_return_val_if_fail(index >= 0 && (gsize)index < strlen(declared), FALSE);
  g_return_val_if_fail(letter == '\0' || g_ascii_tolower(declared[index]) == letter, FALSE);
  rows->db->engine->column(rows, index, ret_value);
  return ret_value->type != PAWL_TYPE_NULL;
}

gint64 pawl_rows_int(PawlRows *rows, int index) {
  PawlValue value;
  return column(rows, index, 'i', &value) ? value.i : 0;
}

double pawl_rows_real(PawlRows *rows, int index) {
  PawlValue value;
  return column(rows, index, 'r', &value) ? value.d : 0;
}

const char *pawl_rows_text(PawlRows *rows, int index) {
  PawlValue value;
  return column(rows, index, 't', &value) ? value.p : NULL;
}

PawlId pawl_rows_id(PawlRows *rows, int index) {
  PawlValue value;
  PawlId id = PAWL_ID_NONE;
  if (column(rows, index, 'd', &value)) memcpy(&id, value.p, sizeof id);
  return id;
}

const void *pawl_rows_blob(PawlRows *rows, int index, gsize *ret_bytes) {
  PawlValue value;
  gboolean there = column(rows, index, 'b', &value);
  *ret_bytes = there ? value.bytes : 0;
  return there ? value.p : NULL;
}

gboolean pawl_rows_is_null(PawlRows *rows, int index) {
  PawlValue value;
  return !column(rows, index, '\0', &value);
}

/* ---- transactions ---- */

static gboolean refuse(GError **error, const char *what) {
  g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, what);
  return FALSE;
}

gboolean pawl_db_begin(PawlDb *db, PawlTx kind, GError **error) {
  if (db->in_tx) return refuse(error, "begin: a transaction is open already");
  if (kind != PAWL_TX_READ && db->mode == PAWL_DB_READ_ONLY) return refuse(error, "begin: the store was opened for reading only");
  if (db->engine->live_rows(db) > 0) return refuse(error, "begin: a cursor is open");
  if (!db->engine->begin(db, kind, error)) return FALSE;
  db->in_tx = TRUE;
  db->failed = FALSE;
  db->kind = kind;
  return TRUE;
}

gboolean pawl_db_commit(PawlDb *db, GError **error) {
  if (!db->in_tx) return refuse(error, "commit: no transaction is open");
  gboolean failed = db->failed, cursors = db->engine->live_rows(db) > 0;
  if (failed || cursors) {
    pawl_db_rollback(db);
    return refuse(error, failed ? "commit: a statement of this transaction failed, so it was rolled back"
                                : "commit: a cursor is still open, so the transaction was rolled back");
  }
  db->in_tx = FALSE;
  return db->engine->commit(db, error);
}

void pawl_db_rollback(PawlDb *db) {
  if (!db->in_tx) return;
  db->engine->rollback(db);
  db->in_tx = db->failed = FALSE;
}

gboolean pawl_db_in_transaction(const PawlDb *db) { return db->in_tx; }

/* ---- the rest goes to the engine as it is ---- */

const PawlMigration *pawl_db_migrations(const PawlDb *db, gsize *ret_n) {
  gsize n = 0;
  while (db->engine->migrations[n].number != 0) n++;
  *ret_n = n;
  return db->engine->migrations;
}

gboolean pawl_db_script(PawlDb *db, const char *script, GError **error) {
  if (!db->in_tx || db->kind == PAWL_TX_READ) return refuse(error, "script: it needs a write transaction");
  if (db->failed) return refuse(error, "script: an earlier statement of this transaction failed, so only rollback is legal");
  return note(db, db->engine->script(db, script, error));
}

PawlBell *pawl_bell_listen(const PawlDb *db, GError **error) { return db->engine->bell_listen(db, error); }
int pawl_bell_fd(const PawlBell *bell) { return bell->engine->bell_fd(bell); }
void pawl_bell_drain(PawlBell *bell) { bell->engine->bell_drain(bell); }
void pawl_bell_close(PawlBell *bell) {
  if (bell != NULL) bell->engine->bell_close(bell);
}
void pawl_db_ring(PawlDb *db) { db->engine->ring(db); }

PawlHold *pawl_db_hold(const PawlDb *db, GError **error) { return db->engine->hold(db, error); }
void pawl_hold_release(PawlHold *hold) {
  if (hold != NULL) hold->engine->hold_release(hold);
}
gint64 pawl_db_holder(const PawlDb *db) { return db->engine->holder(db); }

void pawl_db_tidy(PawlDb *db) {
  if (!db->in_tx && db->engine->live_rows(db) == 0) db->engine->tidy(db);
}
