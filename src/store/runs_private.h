/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read history share. */
#pragma once
#include "store/runs.h"
#include "store/store_private.h"

extern const PawlId PAWL_ID_TOP; /* above every id */
/* The lowest id of an instant: ids of runs that were asked for, or fell due, at or after it are not below. */
PawlId pawl_id_floor(gint64 at_ms);
/* NULL without error: there is no such run (any more). */
PawlRunRow *pawl_store_run_or_none(PawlStore *store, const PawlId *run, GError **error);

typedef struct {
  PawlId run, trigger;
  gboolean scheduled;
} PawlRunKey;
/* A page of a task's runs (task NULL: of all) below `before`, newest first, into `keys` (PawlRunKey), which is emptied first. */
gboolean pawl_store_run_page(PawlStore *store, const PawlId *task, const PawlId *before, guint limit, GArray *keys, GError **error);
