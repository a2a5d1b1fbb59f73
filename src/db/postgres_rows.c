/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors over results that are here already. */
#include "base/error.h"
#include "db/postgres_private.h"

#include <string.h>

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
  const PGresult *result = g_ptr_array_index(cursor->results, cursor->result);
  gsize declared = strlen(pawl_sql_info[rows->sql].columns);
  if ((gsize)PQnfields(result) != declared + (gsize)cursor->skip) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "%s: its file declares another number of columns", pawl_sql_info[rows->sql].name);
    return PAWL_STEP_FAILED;
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
