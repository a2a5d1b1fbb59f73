/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "store/runs_private.h"

typedef struct {
  char stand[8]; /* leased, ready, parked; "": in no hot table */
  PawlId pool, session;
  gint attempt;
  gint64 slots, order_key, since_ms, start_by_ms, laters, wake_ms, acquired_ms, expires_ms, started_ms, pid;
  gboolean trigger_born;
  char *parked, *detail;
} PawlHotRow;

typedef struct {
  PawlStore *store;
  PawlRunRow *row;
  PawlHotRow hot;
  gint64 now_ms;
  GPtrArray *sentences;
} PawlExplanation;

void pawl_say(PawlExplanation *to, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* A duration for people: whole seconds from ten seconds on. Caller g_free()s. */
char *pawl_lasting(gint64 ms);
/* What a run in ready or parked waits for. */
gboolean pawl_explain_waiting(PawlExplanation *to, GError **error);
