/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors over results that are here already. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <string.h>

static gboolean misfit(PawlSql sql, GError **error, const char *what) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: %s", pawl_sql_info[sql].name, what);
  return FALSE;
}

/* The ordinals of one result stand in order, each from 1 to n. */
static gboolean ordinals_fit(const PGresult *result, gsize n) {
  gint64 before = 1;
  for (int row = 0; row < PQntuples(result); row++) {
    PawlValue ordinal;
    pawl_pg_value(result, row, 0, &ordinal);
    if (ordinal.type != PAWL_TYPE_INT || ordinal.i < before || (gsize)ordinal.i > n) return FALSE;
    before = ordinal.i;
  }
  return TRUE;
}

gboolean pawl_pg_rows_fit(PawlSql sql, const GPtrArray *results, gboolean ordinal, gsize n_rows, GError **error) {
  const char *declared = pawl_sql_info[sql].columns;
  int skip = ordinal ? 1 : 0, n = (int)strlen(declared);
  for (guint i = 0; i < results->len; i++) {
    const PGresult *result = g_ptr_array_index(results, i);
    if (PQnfields(result) != n + skip) return misfit(sql, error, "its file declares another number of columns");
    for (int column = 0; column < n; column++)
      if (pawl_pg_type(PQftype(result, column + skip)) == PAWL_TYPE_NULL) {
        g_autofree char *what =
          g_strdup_printf("column %d has a type that pawl does not read (oid %u)", column + 1, PQftype(result, column + skip));
        return misfit(sql, error, what);
      }
    if (ordinal && !ordinals_fit(result, MIN(PAWL_PG_CHUNK, n_rows - (gsize)i * PAWL_PG_CHUNK)))
      return misfit(sql, error, "its rows do not come in the order of the rows of values, or belong to none");
  }
  return TRUE;
}

PawlRows *pawl_pg_rows_open(PawlPg *pg, PawlSql sql, GPtrArray *results, gboolean ordinal) {
  PawlPgRows *cursor = &pg->cursors[sql];
  *cursor = (PawlPgRows){.rows = {.db = &pg->base, .sql = sql, .open = TRUE}, .results = results, .row = -1, .skip = ordinal ? 1 : 0};
  pg->n_open++;
  pg->n_live++;
  return &cursor->rows;
}

static void stop(PawlPg *pg, PawlPgRows *cursor) {
  if (cursor->results == NULL) return;
  g_clear_pointer(&cursor->results, g_ptr_array_unref);
  pg->n_live--;
}

/* The ordinal in front counts from 1 within its chunk of rows of values. */
static gsize index_of(const PawlPgRows *cursor) {
  PawlValue ordinal;
  if (cursor->skip == 0) return cursor->result;
  pawl_pg_value(g_ptr_array_index(cursor->results, cursor->result), cursor->row, 0, &ordinal);
  return (gsize)ordinal.i - 1 + (gsize)cursor->result * PAWL_PG_CHUNK;
}

PawlStep pawl_pg_rows_step(PawlRows *rows, GError **error) {
  PawlPgRows *cursor = (PawlPgRows *)rows;
  cursor->row++;
  while (cursor->result < cursor->results->len && cursor->row >= PQntuples(g_ptr_array_index(cursor->results, cursor->result))) {
    cursor->result++;
    cursor->row = 0;
  }
  if (cursor->result == cursor->results->len) {
    stop((PawlPg *)rows->db, cursor);
    return PAWL_STEP_END;
  }
  rows->index = index_of(cursor);
  return PAWL_STEP_ROW;
}

void pawl_pg_rows_finish(PawlRows *rows) {
  PawlPg *pg = (PawlPg *)rows->db;
  stop(pg, (PawlPgRows *)rows);
  rows->open = rows->on_row = FALSE;
  rows->ended = TRUE;
  pg->n_open--;
}

void pawl_pg_rows_column(PawlRows *rows, int column, PawlValue *ret_value) {
  const PawlPgRows *cursor = (PawlPgRows *)rows;
  pawl_pg_value(g_ptr_array_index(cursor->results, cursor->result), cursor->row, column + cursor->skip, ret_value);
}

void pawl_pg_rows_end_all(PawlPg *pg) {
  for (gsize i = 0; pg->n_open > 0 && i < PAWL_SQL_COUNT; i++)
    if (pg->cursors[i].rows.open) pawl_pg_rows_finish(&pg->cursors[i].rows);
}
