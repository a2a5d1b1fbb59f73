/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for something in the store: cheap reads at growing distances, until it is there or a signal comes. */
#pragma once
#include "cli/format.h"
#include "store/runs.h"

/* From now on INT and TERM only set a mark. */
void pawl_signals_watch(void);
/* The signal that came, 0: none. */
int pawl_signals_seen(void);
/* Sleeps until the next look; `step_ms` begins at 0 and is kept by the caller. A signal ends it. */
void pawl_wait_step(gint64 *step_ms);

/* Prints the output of a run as it is stored, from a place on. */
typedef struct {
  PawlId run;
  gint attempt;      /* the last part printed, */
  gint64 seq;        /* and from where to go on */
  gint only_attempt; /* 0: all */
  gint stream;       /* 0: all */
  gboolean timestamps;
  gboolean within_line; /* what was printed last did not end a line */
} PawlTail;
/* Prints what is new. `ret_any`: something was; may be NULL. */
gboolean pawl_tail_print(PawlTail *tail, PawlStore *store, PawlOut *out, gboolean *ret_any, GError **error);
/* The exit code that stands for a finished run: its own, 124, 128+n, or 1. */
int pawl_run_exit_code(const PawlRunRow *run);
/* Waits until the run has ended, printing its output meanwhile when `tail` is given. NULL with an error, or without when a signal came. */
PawlRunRow *pawl_wait_run(const PawlId *run, PawlTail *tail, PawlStore *store, PawlOut *out, GError **error);
