/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the store for who watches it. */
#pragma once
#include "store/store.h"

/* Reads what gauges say of the store (domain/metrics.h) and sets them. Two statements; `ret_now_ms` is the database's clock. */
gboolean pawl_store_measure(PawlStore *store, gint64 *ret_now_ms, GError **error);
/* Counts the connections that were opened again since the last call. `seen`: 0 at first. */
void pawl_store_count_reconnects(PawlStore *store, guint64 *seen);
