/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/error.h"
#include "store/store_private.h"

#define CLAIM_LEASE_MS 10000

static GError *with_advice(GError *error) {
  if (!g_error_matches(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) return error;
  GError *more = g_error_new(PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "%s; `pawl up` or `pawl apply -f FILE` makes one", error->message);
  g_error_free(error);
  return more;
}

PawlStore *pawl_store_open(const PawlStoreOptions *options, GError **error) {
  GError *why = NULL;
  gint64 lease_ms = options->claim_lease_ms > 0 ? options->claim_lease_ms : CLAIM_LEASE_MS;
  PawlDbOptions how = {.url = options->url,
    .mode = options->mode,
    .create = options->create,
    .cache_kib = options->cache_kib,
    .idle_ms = MIN(5000, lease_ms * 4 / 5), /* a backend that hangs on to a row is gone before the claim is */
    .synchronous_commit = options->synchronous_commit,
    .interrupt_fd = options->interrupt_fd};
  gint64 opened_us = g_get_monotonic_time();
  PawlDb *db = pawl_db_open(&how, &why);
  if (db == NULL) {
    g_propagate_error(error, with_advice(why));
    return NULL;
  }
  gsize n = 0;
  gint version = 0;
  const PawlMigration *list = pawl_db_migrations(db, &n);
  PawlMigrateHow migrate = options->mode == PAWL_DB_READ_ONLY ? PAWL_MIGRATE_NEVER
                           : options->create                  ? PAWL_MIGRATE_CREATE
                                                              : PAWL_MIGRATE_UPGRADE;
  if (!pawl_store_migrate(db, list, n, migrate, &version, &why)) {
    g_propagate_error(error, with_advice(why));
    pawl_db_close(db);
    return NULL;
  }
  PawlStore *store = g_new0(PawlStore, 1);
  store->db = db;
  store->actor = g_strdup(options->actor != NULL ? options->actor : "unknown");
  store->schema_version = version;
  store->opened_us = opened_us;
  store->shared = pawl_db_server(db) != NULL;
  store->serializable = options->serializable;
  store->replica = g_strdup(options->replica);
  store->claim_lease_ms = lease_ms;
  store->lost_claims = pawl_lost_claims_new();
  return store;
}

void pawl_store_close(PawlStore *store) {
  if (store == NULL) return;
  if (store->specs != NULL) pawl_spec_cache_free(store->specs);
  pawl_db_close(store->db);
  g_free(store->actor);
  g_free(store->replica);
  g_array_unref(store->lost_claims);
  g_free(store);
}

gboolean pawl_store_shared(const PawlStore *store) { return store->shared; }
PawlDb *pawl_store_db(PawlStore *store) { return store->db; }
const char *pawl_store_actor(const PawlStore *store) { return store->actor; }
gint pawl_store_schema_version(PawlStore *store) { return store->schema_version; }

gboolean pawl_store_int(PawlStore *store, PawlSql sql, gint64 *ret_number, GError **error, const PawlValue *values, gsize n_values) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, sql, error, values, n_values);
  GError *why = NULL;
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &why)) {
    *ret_number = pawl_rows_int(rows, 0);
    return TRUE;
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  *ret_number = 0;
  return TRUE;
}

char *pawl_store_string(PawlStore *store, PawlSql sql, GError **error, const PawlValue *values, gsize n_values) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, sql, error, values, n_values);
  if (rows == NULL || !pawl_rows_next(rows, error)) return NULL;
  return g_strdup(pawl_rows_text(rows, 0));
}

gboolean pawl_store_ids(PawlStore *store, PawlSql sql, GArray *ids, GError **error, const PawlValue *values, gsize n_values) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, sql, error, values, n_values);
  GError *why = NULL;
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    PawlId id = pawl_rows_id(rows, 0);
    g_array_append_val(ids, id);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

gboolean pawl_store_call(PawlStore *store, PawlSql sql, PawlId *ret_id, GError **error, const PawlValue *values, gsize n_values) {
  GError *why = NULL;
  PawlId id = PAWL_ID_NONE;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  PawlRows *rows = pawl_db_query(store->db, sql, &why, values, n_values);
  if (rows != NULL && pawl_rows_next(rows, &why) && ret_id != NULL) id = pawl_rows_id(rows, 0);
  pawl_rows_close(rows);
  if (why == NULL && pawl_db_commit(store->db, &why)) {
    if (ret_id != NULL) *ret_id = id;
    return TRUE;
  }
  pawl_db_rollback(store->db);
  g_propagate_error(error, why);
  return FALSE;
}

gboolean pawl_store_now(PawlStore *store, gint64 *ret_now_ms, GError **error) {
  return pawl_store_int(store, PAWL_SQL_NOW, ret_now_ms, error, PAWL_NO_PARAMS);
}

char *pawl_store_meta_get(PawlStore *store, const char *key, GError **error) {
  return pawl_store_string(store, PAWL_SQL_META_GET, error, PAWL_ROW(pawl_text(key)));
}

gboolean pawl_store_meta_set(PawlStore *store, const char *key, const char *value, GError **error) {
  return pawl_db_exec(store->db, PAWL_SQL_META_SET, NULL, error, PAWL_ROW(pawl_text(key), pawl_text(value)));
}

/* Events of runs are history and are dropped with it; those of tasks, triggers and pools are not. */
gboolean pawl_store_event(
  PawlStore *store, const PawlId *subject, const char *kind, gint attempt, gint machine_row, const char *data, GError **error) {
  if (!g_str_has_prefix(kind, "run.") && !g_str_has_prefix(kind, "attempt."))
    return pawl_db_exec(store->db, PAWL_SQL_FACT_APPEND, NULL, error, PAWL_ROW(pawl_id(subject), pawl_text(kind), pawl_text(data)));
  return pawl_db_exec(store->db, PAWL_SQL_EVENT_APPEND, NULL, error,
    PAWL_ROW(pawl_id(subject), pawl_text(kind), pawl_int_or_null(attempt), pawl_int_or_null(machine_row), pawl_text(data)));
}

gboolean pawl_store_act(PawlStore *store, const PawlId *subject, const char *kind, GError **error, ...) {
  g_autoptr(json_t) data = json_object();
  pawl_json_set_text(data, "actor", store->actor);
  va_list pairs;
  va_start(pairs, error);
  for (const char *key = va_arg(pairs, const char *); key != NULL; key = va_arg(pairs, const char *)) {
    const char *value = va_arg(pairs, const char *);
    if (value != NULL) pawl_json_set_text(data, key, value);
  }
  va_end(pairs);
  g_autofree char *text = pawl_json_canonical(data);
  return pawl_store_event(store, subject, kind, 0, 0, text, error);
}
