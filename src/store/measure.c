/* SPDX-License-Identifier: Apache-2.0 */
#include "store/measure.h"

#include "domain/metrics.h"
#include "store/store_private.h"

static void set_age(PawlMetric metric, gint64 since_ms, gint64 now_ms) {
  pawl_metric_set(metric, 0, since_ms != 0 ? MAX(now_ms - since_ms, 0) : 0);
}

static gboolean measure_parked(PawlStore *store, GError **error) {
  GError *failed = NULL;
  gint64 parked[PAWL_METRIC_VALUES] = {0};
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_MEASURE_PARKED, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) parked[pawl_metric_value(PAWL_METRIC_PARKED, pawl_rows_text(rows, 0))] = pawl_rows_int(rows, 1);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  const PawlMetricInfo *row = &pawl_metric_table()[PAWL_METRIC_PARKED];
  for (guint i = 0; i < PAWL_METRIC_VALUES && row->values[i] != NULL; i++) pawl_metric_set(PAWL_METRIC_PARKED, i, parked[i]);
  return TRUE;
}

gboolean pawl_store_measure(PawlStore *store, gint64 *ret_now_ms, GError **error) {
  gint64 now_ms;
  {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_MEASURE_COUNTS, error, PAWL_NO_PARAMS);
    if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
    now_ms = pawl_rows_int(rows, 0);
    pawl_metric_set(PAWL_METRIC_QUARANTINED, 0, pawl_rows_int(rows, 1));
    pawl_metric_set(PAWL_METRIC_CLAIMS_HELD, 0, pawl_rows_int(rows, 2));
    set_age(PAWL_METRIC_CLAIM_AGE, pawl_rows_int(rows, 3), now_ms);
    pawl_metric_set(PAWL_METRIC_BACKLOG, 0, pawl_rows_int(rows, 4));
    pawl_metric_set(PAWL_METRIC_RUNNING, 0, pawl_rows_int(rows, 5));
    set_age(PAWL_METRIC_OLDEST_DUE, pawl_rows_int(rows, 6), now_ms);
  }
  if (!measure_parked(store, error)) return FALSE;
  *ret_now_ms = now_ms;
  return TRUE;
}

void pawl_store_count_reconnects(PawlStore *store, guint64 *seen) {
  const PawlDbServer *server = pawl_db_server(store->db);
  if (server == NULL) return;
  if (*seen != 0) pawl_metric_add(PAWL_METRIC_RECONNECTS, 0, (gint64)(server->generation - *seen));
  *seen = server->generation;
}
