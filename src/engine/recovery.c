/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery. An attempt is settled only once nothing of it lives, so that its next attempt never overlaps it. Row by row: one that cannot
 * be settled is logged and left for the next time. */
#include "base/log.h"
#include "domain/metrics.h"
#include "engine/engine_private.h"

static void settle(PawlStore *store, const PawlOrphan *orphan, const char *reason, const PawlEngineOptions *options) {
  g_autoptr(GError) failed = NULL;
  char text[PAWL_ID_TEXT];
  const char *run = pawl_id_short(&orphan->run, text);
  if (!options->end_attempt(orphan, options->data)) {
    pawl_log(PAWL_LOG_ERROR, "recovery.still_alive", "processes of a lost attempt do not end; it is looked at again in a minute", "run",
      run, NULL);
    return;
  }
  gboolean took = FALSE;
  if (pawl_store_orphan_settle(store, orphan, reason, &took, &failed)) {
    if (took)
      pawl_log(PAWL_LOG_WARNING, orphan->started ? "attempt.lost" : "attempt.given_back",
        orphan->started ? "an attempt was lost: its worker is gone" : "an attempt that never started waits again", "run", run, "reason",
        reason, NULL);
  } else
    pawl_log(PAWL_LOG_ERROR, "recovery.failed", "a lost attempt could not be settled", "run", run, "reason", failed->message, NULL);
}

void pawl_recover_leases(PawlStore *store, const PawlId *mine, const PawlEngineOptions *options, PawlPulse *pulse) {
  PawlId after = PAWL_ID_NONE;
  const char *reason = mine == NULL ? "the worker ended without finishing it" : "its worker is gone";
  for (;;) {
    g_autoptr(GError) failed = NULL;
    g_autoptr(GArray) page = g_array_new(FALSE, FALSE, sizeof(PawlOrphan));
    if (!pawl_store_orphans(store, mine, &after, page, &failed)) {
      pawl_log(PAWL_LOG_ERROR, "recovery.failed", "leases could not be read", "reason", failed->message, NULL);
      return;
    }
    if (page->len == 0) return;
    for (guint i = 0; i < page->len; i++) {
      pawl_pulse_busy(pulse);
      settle(store, &g_array_index(page, PawlOrphan, i), reason, options);
    }
    after = g_array_index(page, PawlOrphan, page->len - 1).run;
  }
}

void pawl_recover_drift(PawlStore *store) {
  g_autoptr(GError) failed = NULL;
  guint found = 0;
  if (!pawl_store_drift(store, &found, &failed))
    pawl_log(PAWL_LOG_ERROR, "recovery.failed", "drift could not be looked for", "reason", failed->message, NULL);
  else if (found > 0) {
    pawl_metric_add(PAWL_METRIC_DRIFT, 0, found);
    g_autofree char *count = g_strdup_printf("%u", found);
    pawl_log(PAWL_LOG_ERROR, "recovery.drift", "runs were put aside as manual; `pawl explain RUN` says why", "runs", count, NULL);
  }
}
