/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine_private.h"
#include "store/replicas.h"

#define BITE_RUNS 200
#define BITES_MS 50

void pawl_upkeep_retention(PawlStore *store, gint64 history_ms) {
  gboolean more = TRUE;
  gint64 until_ms = pawl_clock_mono_ms() + BITES_MS;
  while (more && pawl_clock_mono_ms() < until_ms) {
    g_autoptr(GError) failed = NULL;
    if (!pawl_store_retention(store, history_ms, BITE_RUNS, &more, &failed)) {
      pawl_log(PAWL_LOG_WARNING, "retention.failed", "old history could not be removed", "reason", failed->message, NULL);
      return;
    }
  }
}

void pawl_upkeep_sweep(PawlStore *store) {
  g_autoptr(GError) failed = NULL;
  guint settled = 0;
  if (!pawl_store_sweep(store, &settled, &failed))
    pawl_log(PAWL_LOG_WARNING, "sweep.failed", "what was left over could not be looked for", "reason", failed->message, NULL);
  else if (settled > 0) {
    g_autofree char *count = g_strdup_printf("%u", settled);
    pawl_log(PAWL_LOG_NOTICE, "sweep.settled", "what two had written at the same moment was settled", "rows", count, NULL);
  }
}

void pawl_upkeep_unstick(PawlStore *store) {
  g_autoptr(GError) failed = NULL;
  gint64 ended = 0;
  if (!pawl_store_replica_unstick(store, &ended, &failed))
    pawl_log(PAWL_LOG_WARNING, "unstick.failed", "backends of stopped replicas could not be looked for", "reason", failed->message, NULL);
  else if (ended > 0) {
    g_autofree char *count = g_strdup_printf("%" G_GINT64_FORMAT, ended);
    pawl_log(PAWL_LOG_WARNING, "unstick.ended", "backends were ended whose replica had stopped while it sent", "backends", count, NULL);
  }
}
