/* SPDX-License-Identifier: Apache-2.0 */
/* The replicas of a shared store, each a row that it keeps alive by the server's clock. */
#pragma once
#include "store/store.h"

#define PAWL_REPLICA_SILENT_MS 30000 /* three heartbeats */
#define PAWL_REPLICA_CONNECTIONS 5   /* main, scheduler, bell, worker, renewer */

typedef struct {
  PawlId id;
  char *name, *version, *host, *address /* of its health door; NULL: none */, *state;
  gint64 pid, started_at_ms, heartbeat_at_ms, ended_at_ms /* 0: it has not */, age_ms /* since the heartbeat */, claims;
} PawlReplica;
void pawl_replica_free(PawlReplica *replica);
/* The state as people see it: as stored, or "silent". Borrowed. */
const char *pawl_replica_state(const PawlReplica *replica);
/* It has not ended and was heard of lately. */
gboolean pawl_replica_lives(const PawlReplica *replica);

gboolean pawl_store_replica_open(PawlStore *store, const PawlReplica *replica, GError **error);
/* `state`: starting, ready, unready, draining, ended. Rows of replicas that fell silent a day ago go by the way. */
gboolean pawl_store_replica_beat(PawlStore *store, const PawlId *replica, const char *state, GError **error);
/* Ends the backends of replicas that stopped (frozen, or cut off unnoticed) while they sent, so that what they locked is free. */
gboolean pawl_store_replica_unstick(PawlStore *store, gint64 *ret_ended, GError **error);
/* Appends PawlReplica *. An embedded store has none. */
gboolean pawl_store_replicas(PawlStore *store, GPtrArray *replicas, GError **error);

/* Makes the ranges of history to come, and drops those that are over: what lies wholly before `history_ms` ago, oldest first. Nothing on a
 * store without ranges. */
gboolean pawl_store_ranges_ensure(PawlStore *store, GError **error);
gboolean pawl_store_ranges_drop(PawlStore *store, gint64 history_ms, guint *ret_dropped, GError **error);
