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

/* ---- store.c: short forms ---- */
/* The first column of the first row; 0 when there is no row. */
gboolean pawl_store_int(PawlStore *store, PawlSql sql, gint64 *ret_number, GError **error, const PawlValue *values, gsize n_values);
/* The same as text; NULL without error when there is no row or a null. Caller g_free()s. */
char *pawl_store_string(PawlStore *store, PawlSql sql, GError **error, const PawlValue *values, gsize n_values);
/* Appends the first column of all rows to `ids` (PawlId). */
gboolean pawl_store_ids(PawlStore *store, PawlSql sql, GArray *ids, GError **error, const PawlValue *values, gsize n_values);
/* An event that says who did it: data is {"actor": …} and the pairs of strings that follow, ended by NULL; a pair whose value is NULL is left out. Inside the caller's
 * transaction. */
gboolean pawl_store_act(PawlStore *store, const PawlId *subject, const char *kind, GError **error, ...) G_GNUC_NULL_TERMINATED;

/* ---- migrate.c ---- */
typedef enum { PAWL_MIGRATE_NEVER, PAWL_MIGRATE_UPGRADE /* a schema that exists */, PAWL_MIGRATE_CREATE } PawlMigrateHow;
/* Brings the schema to the end of `list`. CONFIG: newer than the list, or another build's; NEVER and older. NOT_FOUND: no schema and not CREATE. BUSY: older, and
 * another process schedules on it. */
gboolean pawl_store_migrate(PawlDb *db, const PawlMigration *list, gsize n, PawlMigrateHow how, gint *ret_version, GError **error);

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

/* ---- pause.c ---- */
/* Ends every pause of a trigger or a task whose end has come, as resume without catch-up does. A transaction of its own. */
gboolean pawl_store_resume_expired(PawlStore *store, GError **error);

/* ---- finish.c ---- */
/* Ends an attempt that waits in ready or parked (cancelled, too late): history row, events, hot row and cancel intent gone, room given back. `ret_found` FALSE: it waits nowhere. */
gboolean pawl_store_end_waiting(PawlStore *store, const PawlId *run, PawlMachineEvent event, const char *reason, gboolean *ret_found, GError **error);
/* Something a limit of the task counts went away, or its limits changed: moves as many of its parked rows (limit, overlap) back to ready as there is room for, at most 256. */
gboolean pawl_store_task_release(PawlStore *store, const PawlId *task, GError **error);
