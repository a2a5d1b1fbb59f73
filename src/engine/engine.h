/* SPDX-License-Identifier: Apache-2.0 */
/* engine: the scheduling side of a process. One thread with a connection of its own, on a shared store as a replica beside others:
 *
 *   sleep until the earliest instant -> claim what is due -> decide (civil) -> admit in a batch -> tell the worker
 *
 * It starts nothing and picks no worker. On an embedded store it sleeps exactly: until the next due instant, the end of a pause, a ring of the store's bell, a
 * step of the wall clock, or once a minute (with jitter) for the net: leases whose workers are gone, retention, drift. One bad trigger is
 * found by halving its batch and put aside (quarantine); it never stops the others. A store that cannot be used is tried again with a
 * back-off, for as long as it takes.
 *
 * All functions may be called from any thread. */
#pragma once
#include "store/dispatch.h"

typedef struct PawlEngine PawlEngine;
typedef struct {
  const char *url;
  const char *actor;
  /* of a shared store */
  const char *replica;               /* its name in the list of replicas */
  const char *address;               /* of its health door; NULL: none */
  gint64 claim_lease_ms;             /* 0: 10 s */
  gboolean serializable;             /* admission_isolation = serializable */
  const char *synchronous_commit;    /* NULL: "on" */
  gint64 history_ms;                 /* what is older goes, in small bites */
  void (*work_waits)(gpointer data); /* called on the engine's thread after an admission, a ring, and by the net. Must not wait */
  /* Ends what still lives of an attempt whose worker is gone; TRUE once nothing does. May wait some seconds. */
  gboolean (*end_attempt)(const PawlOrphan *orphan, gpointer data);
  void (*measured)(gpointer data); /* the gauges are fresh; on the engine's thread. Must not wait */
  gpointer data;
} PawlEngineOptions;

/* Opens the connection and settles what earlier sessions left behind (recovery). Errors: those of pawl_store_open. */
PawlEngine *pawl_engine_new(const PawlEngineOptions *options, GError **error);
/* Starts the thread. `session`: the worker's, whose leases are not orphans. */
void pawl_engine_start(PawlEngine *engine, const PawlId *session);
/* Looks again at once: something was published. */
void pawl_engine_wake(PawlEngine *engine);
/* Claims nothing any more and joins the thread. */
void pawl_engine_stop(PawlEngine *engine);
void pawl_engine_free(PawlEngine *engine);

/* ---- how it is ---- */
typedef struct {
  gint64 overdue_ms;  /* its thread is stuck for so long; 0: it lives, or was stopped */
  gint64 looked_ms;   /* since it last looked at the store with success; -1: never */
  gint64 measured_ms; /* since it last read the gauges; -1: never */
  gint64 clock_ms;    /* the store's clock at that look; 0: never */
  gint clock_state;   /* PAWL_CLOCK_OK … of domain/metrics.h */
  char failure[256];  /* why the last look failed; empty: it did not */
} PawlEngineHealth;
void pawl_engine_health(PawlEngine *engine, PawlEngineHealth *ret_health);
/* Reads the gauges soon; `measured` tells when. While the store cannot be used, nothing is read. */
void pawl_engine_measure(PawlEngine *engine);
