/* SPDX-License-Identifier: Apache-2.0 */
/* Backends that lost connections left behind. Cut off in the middle of a message, or between the messages of a pipeline, a backend waits for
 * the rest with all its locks: it counts as active, so neither statement_timeout nor idle_in_transaction_session_timeout ends it, and where
 * nobody tells the server that the client is gone it would wait for ever. So the next connection ends it, known by its pid and its start.
 *
 * One that was at its COMMIT is ended only while it waits for its client, for then it is not committing; it may be ended at any time once
 * a lock is not to be had, because it may be what is in the way. */
#include "db/postgres_private.h"

#define LOOK_US (100 * G_TIME_SPAN_MILLISECOND) /* between two looks at one that commits */

typedef struct {
  gint64 pid, started_us;
  gboolean commits;
} Ghost;

void pawl_pg_ghost_add(PawlPg *pg, gboolean commits) {
  Ghost ghost = {.pid = pg->base.server.pid, .started_us = pg->base.server.started_us, .commits = commits};
  if (!pg->direct) return; /* a pooler's backend is another client's by now */
  if (pg->ghosts == NULL) pg->ghosts = g_array_new(FALSE, FALSE, sizeof(Ghost));
  g_array_append_val(pg->ghosts, ghost);
  pg->ghosts_look_us = 0;
}

void pawl_pg_ghosts_end_all(PawlPg *pg) {
  for (guint i = 0; pg->ghosts != NULL && i < pg->ghosts->len; i++) g_array_index(pg->ghosts, Ghost, i).commits = FALSE;
  pg->ghosts_look_us = 0;
}

/* TRUE: it is there no more. */
static gboolean lay(PawlPg *pg, const Ghost *ghost, gboolean *ret_asked) {
  g_autofree char *text = g_strdup_printf("SELECT CASE WHEN %s OR wait_event = 'ClientRead' THEN pg_terminate_backend(pid) END "
                                          "FROM pg_stat_activity WHERE pid = %" G_GINT64_FORMAT
                                          " AND floor(extract(epoch FROM backend_start) * 1000000)::bigint = %" G_GINT64_FORMAT,
    ghost->commits ? "false" : "true", ghost->pid, ghost->started_us);
  g_autoptr(PawlPgPipeline) pipeline = pawl_pg_pipeline_new(pg, "connect");
  g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)PQclear);
  pawl_pg_pipeline_add(pipeline, text, NULL);
  *ret_asked = pawl_pg_pipeline_run(pipeline, results, NULL) && results->len == 1;
  return *ret_asked && PQntuples(results->pdata[0]) == 0;
}

void pawl_pg_ghosts_lay(PawlPg *pg) {
  gboolean asked = TRUE;
  if (pg->ghosts == NULL || pg->ghosts->len == 0 || g_get_monotonic_time() < pg->ghosts_look_us) return;
  pg->ghosts_look_us = g_get_monotonic_time() + LOOK_US;
  for (guint i = 0; asked && i < pg->ghosts->len;) {
    Ghost ghost = g_array_index(pg->ghosts, Ghost, i); /* a failure adds one */
    if (lay(pg, &ghost, &asked))
      g_array_remove_index(pg->ghosts, i);
    else
      i++;
  }
}
