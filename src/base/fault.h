/* SPDX-License-Identifier: Apache-2.0 */
/* Fault points, compiled in by -Dfaults=true for tests only; elsewhere they cost nothing.
 *
 *   PAWL_FAULT="admit.before_commit:3"   the third passage of that point kills the process (SIGKILL)
 *   PAWL_FAULT="admit.before_commit:3:stop"  …stops it (SIGSTOP)
 *   PAWL_FAULT="output.write:1:error"    pawl_fault_hit() answers TRUE there, once; the code behaves as on a failure
 *   PAWL_FAULT="spawn:1:sleep=500"       sleeps so many milliseconds
 *   PAWL_FAULT_CLOCK=FILE                the wall clock is off by the milliseconds that stand in FILE, read anew at each look
 *   PAWL_FAULT_PATIENCE=MS      how long a thread may keep its pulse waiting before it counts as stuck
 *
 * A point is named room.step; the kill tests find the names by searching the sources for PAWL_FAULT. */
#pragma once
#include <glib.h>

#ifdef PAWL_FAULTS
gboolean pawl_fault_hit(const char *point);
gint64 pawl_fault_clock_offset_ms(void);
gint64 pawl_fault_patience_ms(gint64 usual_ms);
#else
static inline gboolean pawl_fault_hit(const char *point) { return FALSE; }
static inline gint64 pawl_fault_clock_offset_ms(void) { return 0; }
static inline gint64 pawl_fault_patience_ms(gint64 usual_ms) { return usual_ms; }
#endif
#define PAWL_FAULT(point) ((void)pawl_fault_hit(point))
