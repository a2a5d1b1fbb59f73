/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, instants and durations as text. An instant is a gint64 of milliseconds since the Unix epoch and is named
 * `_at_ms`; a duration is a gint64 of milliseconds named `_ms`. Years end at 2900. */
#pragma once
#include <glib.h>

#define PAWL_SECOND_MS G_GINT64_CONSTANT(1000)
#define PAWL_MINUTE_MS (60 * PAWL_SECOND_MS)
#define PAWL_HOUR_MS (60 * PAWL_MINUTE_MS)
#define PAWL_DAY_MS (24 * PAWL_HOUR_MS)
#define PAWL_AT_MAX_MS G_GINT64_CONSTANT(29379542399999) /* 2900-12-31T23:59:59.999Z */

gint64 pawl_clock_wall_ms(void); /* CLOCK_REALTIME. In tests PAWL_FAULTS builds add the offset of fault.h */
gint64 pawl_clock_mono_ms(void); /* CLOCK_MONOTONIC: elapsed time */
gint64 pawl_clock_boot_ms(void); /* CLOCK_BOOTTIME: elapsed time, suspend included */
const char *pawl_boot_id(void);  /* the kernel's id of this boot, 36 characters; never freed */

#define PAWL_INSTANT_TEXT 32
/* RFC 3339 UTC with milliseconds, "2026-03-29T01:00:00.000Z". Returns `text`. */
char *pawl_instant_text(gint64 at_ms, char text[PAWL_INSTANT_TEXT]);
/* The same without a fraction where it is zero: "2026-03-29T01:00:00Z". Returns `text`. */
char *pawl_instant_text_short(gint64 at_ms, char text[PAWL_INSTANT_TEXT]);
/* Reads RFC 3339 with a zone (Z or ±hh:mm), 'T' or one blank between date and time, seconds optional, a fraction of up to 9 digits
 * (cut to ms). Years 1970 to 2900. PAWL_ERROR_INVALID otherwise, naming what is wrong. */
gboolean pawl_instant_parse(const char *text, gint64 *ret_at_ms, GError **error);

/* Reads "250ms", "30s", "15m", "1h30m", "2d", "1w" or bare digits (seconds); each unit once, from large to small. From 0 to
 * 3650 days. PAWL_ERROR_INVALID otherwise. */
gboolean pawl_duration_parse(const char *text, gint64 *ret_ms, GError **error);
/* The shortest such text: 5400000 -> "1h30m", 0 -> "0s". Caller frees. */
char *pawl_duration_text(gint64 ms);
