/* SPDX-License-Identifier: Apache-2.0 */
#include "store/runs.h"
#include "store/store_private.h"

#define CALL_MAX_BYTES (1024 * 1024)

void pawl_output_part_free(PawlOutputPart *part) {
  if (part == NULL) return;
  g_bytes_unref(part->bytes);
  g_free(part);
}

gboolean pawl_store_output(PawlStore *store, const PawlId *run, gint after_attempt, gint64 after_seq, GPtrArray *parts, GError **error) {
  GError *why = NULL;
  gsize sum = 0;
  g_autoptr(PawlRows) rows =
    pawl_db_query(store->db, PAWL_SQL_RUN_OUTPUT, error, PAWL_ROW(pawl_id(run), PAWL_INT(after_attempt), PAWL_INT(after_seq)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    gsize bytes = 0;
    const void *blob = pawl_rows_blob(rows, 4, &bytes);
    if (sum > 0 && sum + bytes > CALL_MAX_BYTES) break; /* one part always fits, so that a reader gets on */
    PawlOutputPart *part = g_new0(PawlOutputPart, 1);
    part->attempt = (gint)pawl_rows_int(rows, 0);
    part->seq = pawl_rows_int(rows, 1);
    part->at_ms = pawl_rows_int(rows, 2);
    part->stream = (gint)pawl_rows_int(rows, 3);
    part->bytes = g_bytes_new(blob, bytes);
    g_ptr_array_add(parts, part);
    sum += bytes;
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}
