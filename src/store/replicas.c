/* SPDX-License-Identifier: Apache-2.0 */
#include "store/replicas.h"

#include "store/store_private.h"

#define STUCK_MS 5000 /* as long as a transaction may be idle */

void pawl_replica_free(PawlReplica *replica) {
  if (replica == NULL) return;
  g_free(replica->name);
  g_free(replica->version);
  g_free(replica->host);
  g_free(replica->address);
  g_free(replica->state);
  g_free(replica);
}

gboolean pawl_replica_lives(const PawlReplica *replica) { return replica->ended_at_ms == 0 && replica->age_ms <= PAWL_REPLICA_SILENT_MS; }

const char *pawl_replica_state(const PawlReplica *replica) {
  return replica->ended_at_ms == 0 && !pawl_replica_lives(replica) ? "silent" : replica->state;
}

gboolean pawl_store_replica_open(PawlStore *store, const PawlReplica *replica, GError **error) {
  return !store->shared || pawl_db_exec(store->db, PAWL_SQL_REPLICA_INSERT, NULL, error,
                             PAWL_ROW(pawl_id(&replica->id), pawl_text(replica->name), pawl_text(PAWL_VERSION), pawl_text(replica->host),
                               PAWL_INT(replica->pid), pawl_text(replica->address)));
}

gboolean pawl_store_replica_beat(PawlStore *store, const PawlId *replica, const char *state, GError **error) {
  return !store->shared || pawl_db_exec(store->db, PAWL_SQL_REPLICA_BEAT, NULL, error, PAWL_ROW(pawl_id(replica), pawl_text(state)));
}

gboolean pawl_store_replica_unstick(PawlStore *store, gint64 *ret_ended, GError **error) {
  *ret_ended = 0;
  return !store->shared || pawl_store_int(store, PAWL_SQL_REPLICA_UNSTICK, ret_ended, error, PAWL_ROW(PAWL_INT(STUCK_MS)));
}

gboolean pawl_store_replicas(PawlStore *store, GPtrArray *replicas, GError **error) {
  GError *failed = NULL;
  if (!store->shared) return TRUE;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_REPLICAS_LIST, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    PawlReplica *replica = g_new(PawlReplica, 1);
    *replica = (PawlReplica){.id = pawl_rows_id(rows, 0),
      .name = g_strdup(pawl_rows_text(rows, 1)),
      .version = g_strdup(pawl_rows_text(rows, 2)),
      .host = g_strdup(pawl_rows_text(rows, 3)),
      .pid = pawl_rows_int(rows, 4),
      .address = g_strdup(pawl_rows_text(rows, 5)),
      .state = g_strdup(pawl_rows_text(rows, 6)),
      .started_at_ms = pawl_rows_int(rows, 7),
      .heartbeat_at_ms = pawl_rows_int(rows, 8),
      .ended_at_ms = pawl_rows_int(rows, 9),
      .age_ms = pawl_rows_int(rows, 10),
      .claims = pawl_rows_int(rows, 11)};
    g_ptr_array_add(replicas, replica);
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

/* A function that writes and answers: a transaction of its own. `each` is counted where its second column is not 0. */
static gboolean call_ranges(PawlStore *store, PawlSql sql, const PawlValue *values, gsize n, guint *ret_count, GError **error) {
  GError *failed = NULL;
  guint count = 0;
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  PawlRows *rows = pawl_db_query(store->db, sql, &failed, values, n);
  while (rows != NULL && pawl_rows_next(rows, &failed)) count += sql != PAWL_SQL_PARTITIONS_DROP || pawl_rows_int(rows, 1) != 0;
  pawl_rows_close(rows);
  if (failed == NULL && pawl_db_commit(store->db, &failed)) {
    *ret_count = count;
    return TRUE;
  }
  pawl_db_rollback(store->db);
  g_propagate_error(error, failed);
  return FALSE;
}

gboolean pawl_store_ranges_ensure(PawlStore *store, GError **error) {
  guint ignored;
  return !store->shared || call_ranges(store, PAWL_SQL_PARTITIONS_ENSURE, PAWL_NO_PARAMS, &ignored, error);
}

gboolean pawl_store_ranges_drop(PawlStore *store, gint64 history_ms, guint *ret_dropped, GError **error) {
  gint64 now_ms;
  *ret_dropped = 0;
  return !store->shared || (pawl_store_now(store, &now_ms, error) &&
                             call_ranges(store, PAWL_SQL_PARTITIONS_DROP, PAWL_ROW(PAWL_INT(now_ms - history_ms)), ret_dropped, error));
}
