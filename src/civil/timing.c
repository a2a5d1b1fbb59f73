/* SPDX-License-Identifier: Apache-2.0 */
/* A trigger's timing: which occurrences it has, within its window, and how far jitter moves each. */
#include "base/clock.h"
#include "civil/civil.h"
#include "civil/date.h"

#include <string.h>

void pawl_timing_clear(PawlTiming *timing) {
  pawl_cron_unref(timing->cron);
  *timing = (PawlTiming){0};
}

static gboolean next_every(const PawlTiming *timing, gint64 after_ms, gint64 *ret_ms) {
  if (timing->every_ms <= 0) return FALSE;
  gint64 at_ms = timing->offset_ms + (pawl_floor_div(after_ms - timing->offset_ms, timing->every_ms) + 1) * timing->every_ms;
  if (at_ms > PAWL_AT_MAX_MS) return FALSE;
  *ret_ms = at_ms;
  return TRUE;
}

gboolean pawl_timing_next(const PawlTiming *timing, gint64 after_ms, gint64 *ret_nominal_ms) {
  gint64 at_ms = 0;
  gboolean found = FALSE;
  after_ms = MAX(after_ms, MAX(timing->from_ms, 0) - 1);
  if (after_ms >= PAWL_AT_MAX_MS) return FALSE;
  switch (timing->kind) {
  case PAWL_TIMING_CRON: found = pawl_cron_next(timing->cron, after_ms, &at_ms); break;
  case PAWL_TIMING_EVERY: found = next_every(timing, after_ms, &at_ms); break;
  case PAWL_TIMING_AT:
    at_ms = timing->at_ms;
    found = at_ms > after_ms;
    break;
  case PAWL_TIMING_REBOOT: break;
  }
  if (!found || (timing->until_ms != 0 && at_ms >= timing->until_ms)) return FALSE;
  *ret_nominal_ms = at_ms;
  return TRUE;
}

/* FNV-1a over the 16 bytes of the id and the 8 of the instant, low byte first, then a finaliser that spreads the low bits: the
 * walk calls this for each occurrence, and the result is the same on every machine. */
gint64 pawl_timing_jitter(const PawlTiming *timing, const PawlId *trigger, gint64 nominal_ms) {
  guint64 h = G_GUINT64_CONSTANT(0xcbf29ce484222325);
  if (timing->jitter_ms <= 0) return 0;
  for (int i = 0; i < PAWL_ID_BYTES + 8; i++) {
    guint64 byte = i < PAWL_ID_BYTES ? trigger->b[i] : (guint64)nominal_ms >> 8 * (i - PAWL_ID_BYTES) & 0xff;
    h = (h ^ byte) * G_GUINT64_CONSTANT(0x100000001b3);
  }
  h = (h ^ h >> 32) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
  h ^= h >> 29;
  return (gint64)(h % ((guint64)timing->jitter_ms + 1));
}

gint64 pawl_timing_shortest_gap_ms(const PawlTiming *timing) {
  gint64 first_ms, second_ms;
  if (!pawl_timing_next(timing, -1, &first_ms) || !pawl_timing_next(timing, first_ms, &second_ms)) return 0;
  return timing->kind == PAWL_TIMING_EVERY ? timing->every_ms : pawl_cron_shortest_gap_ms(timing->cron);
}
