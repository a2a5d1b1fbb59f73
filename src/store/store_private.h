/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the store room share. Everything here runs inside the caller's write transaction. */
#pragma once
#include "store/store.h"

typedef struct PawlSpecCache PawlSpecCache; /* specs.c */

struct PawlStore {
  PawlDb *db;
  char *actor;
  PawlSpecCache *specs; /* made at first use; pawl_spec_cache_free() at close */
  gint schema_version;
};
void pawl_spec_cache_free(PawlSpecCache *cache);

/* ---- run_create.c: the one place where a run comes into being ---- */
typedef struct {
  PawlId id;
  PawlId project, task, pool;
  gint64 task_revision;
  const PawlId *trigger; /* NULL: none */
  gint64 trigger_revision; /* 0: none */
  const char *origin;
  gint64 nominal_at_ms;  /* 0: none */
  gint64 queued_at_ms;
  gint64 start_at_ms;    /* 0 or past: ready at once; else parked `start_at` */
  gint64 start_by_at_ms; /* 0: none. start_within counted from the nominal (or queued, or start_at) time */
  gint priority, slots;
  gboolean trigger_born;
  const PawlId *retry_of;
  const char *requested_by, *input; /* NULL: none */
} PawlNewRun;
/* Run row, hot row and the events run.created and run.queued. `ret_created` FALSE: a run of that id exists; nothing was written. */
gboolean pawl_store_run_create(PawlStore *store, const PawlNewRun *run, gboolean *ret_created, GError **error);
/* The pool's id by (project, name). FALSE with NOT_FOUND. */
gboolean pawl_store_pool_id(PawlStore *store, const PawlId *project, const char *name, PawlId *ret_pool, GError **error);

/* ---- finish.c ---- */
/* Ends an attempt that waits in ready or parked (cancelled, too late): history row, events, hot row and cancel intent gone, room given back. `ret_found` FALSE: it waits nowhere. */
gboolean pawl_store_end_waiting(PawlStore *store, const PawlId *run, PawlMachineEvent event, const char *reason, gboolean *ret_found, GError **error);
/* Something a limit of the task counts went away, or its limits changed: moves as many of its parked rows (limit, overlap) back to ready as there is room for, at most 256. */
gboolean pawl_store_task_release(PawlStore *store, const PawlId *task, GError **error);
