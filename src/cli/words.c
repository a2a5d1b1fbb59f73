/* SPDX-License-Identifier: Apache-2.0 */
/* Time and sizes in words for people. */
#include "base/clock.h"
#include "cli/format.h"

char *pawl_local_text(gint64 at_ms) {
  if (at_ms == 0) return g_strdup("-");
  g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(at_ms / 1000);
  g_autoptr(GDateTime) local = utc != NULL ? g_date_time_to_local(utc) : NULL;
  return local != NULL ? g_date_time_format(local, "%Y-%m-%d %H:%M:%S") : g_strdup("?");
}

char *pawl_rough_text(gint64 ms) {
  static const struct {
    const char *name;
    gint64 ms;
  } units[] = {{"d", PAWL_DAY_MS}, {"h", PAWL_HOUR_MS}, {"m", PAWL_MINUTE_MS}, {"s", PAWL_SECOND_MS}};
  if (ms < 0) ms = -ms;
  if (ms < PAWL_SECOND_MS) return g_strdup_printf("%" G_GINT64_FORMAT "ms", ms);
  if (ms < 10 * PAWL_SECOND_MS) return g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT "s", ms / 1000, ms % 1000 / 100);
  for (gsize i = 0; i + 1 < G_N_ELEMENTS(units); i++) {
    gint64 n = ms / units[i].ms, rest = ms % units[i].ms / units[i + 1].ms;
    if (n == 0) continue;
    if (rest == 0) return g_strdup_printf("%" G_GINT64_FORMAT "%s", n, units[i].name);
    return g_strdup_printf("%" G_GINT64_FORMAT "%s %" G_GINT64_FORMAT "%s", n, units[i].name, rest, units[i + 1].name);
  }
  return g_strdup_printf("%" G_GINT64_FORMAT "s", ms / 1000);
}

char *pawl_relative_text(gint64 at_ms, gint64 now_ms) {
  gint64 distance = at_ms - now_ms;
  if (at_ms == 0) return g_strdup("");
  if (distance > -500 && distance < 500) return g_strdup("now");
  /* whole seconds are enough for a distance, and the nearer of two is said */
  g_autofree char *rough = pawl_rough_text((ABS(distance) + 500) / 1000 * 1000);
  if (ABS(distance) < 10 * PAWL_SECOND_MS) {
    g_free(rough);
    rough = g_strdup_printf("%" G_GINT64_FORMAT "s", (ABS(distance) + 500) / 1000);
  }
  return distance > 0 ? g_strconcat("in ", rough, NULL) : g_strconcat(rough, " ago", NULL);
}

char *pawl_when_text(gint64 at_ms, gint64 now_ms) {
  if (at_ms == 0) return g_strdup("-");
  g_autofree char *local = pawl_local_text(at_ms), *relative = pawl_relative_text(at_ms, now_ms);
  return g_strdup_printf("%s (%s)", local, relative);
}

char *pawl_size_text(gint64 bytes) { return g_format_size_full((guint64)MAX(bytes, 0), G_FORMAT_SIZE_IEC_UNITS); }
