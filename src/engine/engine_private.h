/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the engine share. Everything here runs on the engine's thread. */
#pragma once
#include "base/pulse.h"
#include "engine/engine.h"
#include "store/runs.h"
#include "store/schedules.h"

/* ---- scheduler.c ---- */
typedef struct {
  gboolean put_aside; /* a trigger was: it waits for an instant */
  guint claimed;      /* rows that were due */
  guint admitted;     /* runs that came into being */
  gint64 next_due_ms; /* the earliest instant to come, 0: none */
  gint64 now_ms;      /* the database's clock */
  gboolean more;      /* the budget was used up: another round at once */
} PawlRound;
/* One round. `budget`: 16 at first, doubled up to 256 while rounds come back full. */
gboolean pawl_scheduler_round(PawlStore *store, guint *budget, PawlRound *ret_round, GError **error);

/* ---- recovery.c ---- */
/* Settles leases of other sessions: ends the processes first, by boot id, pid and start time. `mine`: NULL at start, when every lease is
 * an orphan. The pulse beats for each, since an end takes seconds. */
void pawl_recover_leases(PawlStore *store, const PawlId *mine, const PawlEngineOptions *options, PawlPulse *pulse);
void pawl_recover_drift(PawlStore *store);

/* ---- upkeep.c ---- */
/* Small bites of retention while there is more, for at most 50 ms. */
void pawl_upkeep_retention(PawlStore *store, gint64 history_ms);
/* What two who wrote at the same time left over on a shared store. */
void pawl_upkeep_sweep(PawlStore *store);
void pawl_upkeep_unstick(PawlStore *store);
