/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files of admission share.
 *
 *   admit.c       the transaction: locks, the fence, writing, cursors
 *   admit_plan.c  what becomes of each occurrence: facts of the specs, overlap, the plan
 *
 * A batch is planned and written as a whole, a statement for all of its rows at a time. */
#pragma once
#include "store/schedules.h"
#include "store/store_private.h"

/* An occurrence that becomes a run, or a range that goes to the ledger. */
typedef struct {
  gboolean is_run, created; /* created: set when it was written; FALSE: that run existed already */
  PawlId run;
  gint64 from_ms, to_ms, count; /* a run: from_ms is its nominal time */
  const char *outcome, *reason; /* of the ledger. Static; reason NULL: none */
} PawlSettlementItem;

typedef struct {
  PawlAdmission *admission;
  /* copied from the specs before the transaction: the cache may let go of them */
  PawlId pool;
  gint slots, priority, overlap_queue;
  gint64 start_within_ms, next_due_ms;
  PawlOverlap overlap;
  gboolean makes_up; /* fire_all makes up missed occurrences, which wait for each other */
  char *input;
  /* in the transaction */
  gboolean raced;
  gint64 now_ms, settled_ms, last_admitted_ms;
  GArray *items; /* PawlSettlementItem, in the order of their times */
  guint written; /* so many of them are in the store */
} PawlSettlement;

typedef struct {
  PawlStore *store;
  GArray *settlements; /* PawlSettlement */
  GHashTable *uses;    /* PawlTaskUse by task: what an overlap rule counts, as it grows in this batch */
  gint64 horizon_ms;
  PawlId pool_project, pool; /* the pool looked up last: most rows name the same one */
  char *pool_name;
} PawlAdmitBatch;

/* Before the transaction: reads the specs. */
gboolean pawl_admit_facts(PawlAdmitBatch *batch, PawlSettlement *s, GError **error);
/* Inside it, once the gates are held: reads what the overlap rules count. */
gboolean pawl_admit_uses(PawlAdmitBatch *batch, GError **error);
/* Fills `items`. REPLACE ends the others, for which what was planned so far is written. */
gboolean pawl_admit_plan(PawlAdmitBatch *batch, PawlSettlement *s, GError **error);
/* Writes what is planned and not written yet, of all settlements. */
gboolean pawl_admit_write(PawlAdmitBatch *batch, GError **error);
