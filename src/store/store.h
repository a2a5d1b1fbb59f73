/* SPDX-License-Identifier: Apache-2.0 */
/* store: repositories over db/. One C source for both engines; what differs is SQL text.
 *
 * A PawlStore is a connection and what is cached about it; it belongs to one thread. Every call that changes something is one transaction
 * of its own, unless it says "inside the caller's transaction". What a call returned as done is durable. Instants are read from the
 * database's clock inside the transaction, never from an argument, unless it says so.
 *
 * Lock order: project, task, trigger, pool gate, task gate, schedule, hot row; ascending id within a class. On SQLite the
 * one write lock stands for all of them. */
#pragma once
#include "db/db.h"
#include "domain/domain.h"

typedef struct PawlStore PawlStore;

typedef struct {
  const char *url;
  PawlDbMode mode;
  gboolean create;   /* make it and migrate it */
  const char *actor; /* who acts, for paused_by, requested_by and events: "root@host" */
  gint64 cache_kib;  /* 0: the default of db */
  /* a shared store (PostgreSQL); 0, NULL: the defaults */
  const char *replica;            /* who claims: the replica's id as text; NULL: this store claims nothing */
  gint64 claim_lease_ms;          /* 10 s; 1–60 s */
  gboolean serializable;          /* admission_isolation = serializable */
  const char *synchronous_commit; /* "on" */
  int interrupt_fd;               /* as PawlDbOptions has it */
} PawlStoreOptions;

/* Opens, and migrates a schema that is older (READ_WRITE only). CONFIG: the schema is newer than this program, or its checksums differ
 * (both say what to do). NOT_FOUND: no store there: the message names `pawl up`. */
PawlStore *pawl_store_open(const PawlStoreOptions *options, GError **error);
void pawl_store_close(PawlStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PawlStore, pawl_store_close)
PawlDb *pawl_store_db(PawlStore *store);
/* Others schedule and work on this store as well: claims are leases, and nobody is the only one. */
gboolean pawl_store_shared(const PawlStore *store);
const char *pawl_store_actor(const PawlStore *store);
/* The database's clock. */
gboolean pawl_store_now(PawlStore *store, gint64 *ret_now_ms, GError **error);
gint pawl_store_schema_version(PawlStore *store);
/* meta rows. Caller g_free()s; NULL without error when there is none. */
char *pawl_store_meta_get(PawlStore *store, const char *key, GError **error);
gboolean pawl_store_meta_set(PawlStore *store, const char *key, const char *value, GError **error);

/* Appends an event to a run or a trigger, inside the caller's transaction. `data`: JSON text or NULL; `machine_row` 0: none. */
gboolean pawl_store_event(
  PawlStore *store, const PawlId *subject, const char *kind, gint attempt, gint machine_row, const char *data, GError **error);
