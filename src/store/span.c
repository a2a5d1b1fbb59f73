/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_private.h"

/* The last occurrence that is not after until_ms. next(x) never falls as x rises, so that it is the value of next() just below the point
 * where next() jumps past until_ms; that point is found by halving. first_ms <= until_ms is one. */
static gint64 last_until(const PawlTiming *timing, gint64 first_ms, gint64 until_ms) {
  gint64 low = first_ms - 1, high = until_ms, last = first_ms;
  while (low < high) {
    gint64 middle = low + (high - low) / 2, next;
    if (pawl_timing_next(timing, middle, &next) && next <= until_ms) {
      last = next;
      low = next; /* everything below next answers next or less */
    } else {
      high = middle;
    }
  }
  return last;
}

gboolean pawl_span(const PawlTiming *timing, gint64 cursor_ms, gint64 until_ms, PawlSpan *ret_span) {
  if (cursor_ms > until_ms) return FALSE;
  PawlSpan span = {.from_ms = cursor_ms, .to_ms = cursor_ms, .count = 1, .exact = TRUE};
  gint64 next;
  if (timing->kind == PAWL_TIMING_EVERY && timing->every_ms > 0) {
    gint64 end = timing->until_ms != 0 ? MIN(until_ms, timing->until_ms - 1) : until_ms;
    if (end > cursor_ms) span.count += (end - cursor_ms) / timing->every_ms;
    span.to_ms = cursor_ms + (span.count - 1) * timing->every_ms;
  } else {
    while (pawl_timing_next(timing, span.to_ms, &next) && next <= until_ms) {
      if (span.count >= PAWL_SPAN_WALK_MAX) {
        span.exact = FALSE;
        span.to_ms = last_until(timing, next, until_ms);
        span.count++;
        break;
      }
      span.to_ms = next;
      span.count++;
    }
  }
  *ret_span = span;
  return TRUE;
}
