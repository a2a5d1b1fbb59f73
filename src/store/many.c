/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of values for one statement: one round trip for all of them. */
#include "store/store_private.h"

PawlMany *pawl_many_new(PawlSql sql) {
  PawlMany *many = g_new0(PawlMany, 1);
  many->sql = sql;
  many->values = g_array_new(FALSE, FALSE, sizeof(PawlValue));
  return many;
}

void pawl_many_free(PawlMany *many) {
  if (many == NULL) return;
  g_array_unref(many->values);
  g_free(many);
}

void pawl_many_add(PawlMany *many, const PawlValue *values, gsize n_values) {
  g_assert(many->n_rows == 0 || n_values == many->n_values);
  many->n_values = n_values;
  many->n_rows++;
  g_array_append_vals(many->values, values, (guint)n_values);
}

gboolean pawl_many_exec(PawlStore *store, const PawlMany *many, gint64 *ret_changed, GError **error) {
  return many->n_rows == 0 ||
         pawl_db_exec_many(store->db, many->sql, (PawlValue *)many->values->data, many->n_values, many->n_rows, ret_changed, error);
}

PawlRows *pawl_many_query(PawlStore *store, const PawlMany *many, GError **error) {
  return pawl_db_query_many(store->db, many->sql, error, (PawlValue *)many->values->data, many->n_values, many->n_rows);
}
