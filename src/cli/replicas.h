/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "store/replicas.h"

#define PAWL_REPLICA_SILENT_MS 30000 /* three heartbeats */

/* The state as people see it: as stored, or "silent". Borrowed. */
const char *pawl_replica_state(const PawlReplica *replica);
/* It has not ended and was heard of lately. */
gboolean pawl_replica_lives(const PawlReplica *replica);
