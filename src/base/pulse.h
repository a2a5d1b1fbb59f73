/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's pulse: with each beat it promises the next one. Who looks from outside knows from it whether the thread is stuck, however
 * long it sleeps. Elapsed time without suspend, so that a laptop that wakes up is no patient. */
#pragma once
#include "base/clock.h"
#include "base/fault.h"

#include <stdatomic.h>

/* What a thread may be busy for between two beats: longer than any statement or try to connect is waited for. */
#define PAWL_PULSE_BUSY_MS pawl_fault_patience_ms(60000)
/* How late a sleeper may wake on a machine that is busy with other things. */
#define PAWL_PULSE_LATE_MS pawl_fault_patience_ms(15000)

typedef struct {
  _Atomic gint64 by_mono_ms; /* 0: nobody promises anything */
} PawlPulse;

/* About to work. */
static inline void pawl_pulse_busy(PawlPulse *pulse) { atomic_store(&pulse->by_mono_ms, pawl_clock_mono_ms() + PAWL_PULSE_BUSY_MS); }
/* About to sleep for `ms`; -1: until it is woken, which is no promise. */
static inline void pawl_pulse_sleep(PawlPulse *pulse, gint64 ms) {
  atomic_store(&pulse->by_mono_ms, ms < 0 ? 0 : pawl_clock_mono_ms() + ms + PAWL_PULSE_LATE_MS);
}
static inline void pawl_pulse_end(PawlPulse *pulse) { atomic_store(&pulse->by_mono_ms, 0); }
/* 0: alive; else for how many ms it has been overdue. */
static inline gint64 pawl_pulse_overdue_ms(const PawlPulse *pulse) {
  gint64 by_mono_ms = atomic_load(&pulse->by_mono_ms);
  return by_mono_ms == 0 ? 0 : MAX(pawl_clock_mono_ms() - by_mono_ms, 0);
}
