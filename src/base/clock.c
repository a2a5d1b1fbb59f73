/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include "base/error.h"
#include "base/fault.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static gint64 clock_ms(clockid_t id) {
  struct timespec ts;
  clock_gettime(id, &ts);
  return (gint64)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

gint64 pawl_clock_wall_ms(void) { return clock_ms(CLOCK_REALTIME) + pawl_fault_clock_offset_ms(); }
gint64 pawl_clock_mono_ms(void) { return clock_ms(CLOCK_MONOTONIC); }
gint64 pawl_clock_boot_ms(void) { return clock_ms(CLOCK_BOOTTIME); }

static char boot_id[40];

static void read_boot_id(void) {
  g_autofree char *text = NULL;
  if (g_file_get_contents("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
    g_strlcpy(boot_id, g_strstrip(text), sizeof boot_id);
  else
    g_strlcpy(boot_id, "unknown", sizeof boot_id);
}

const char *pawl_boot_id(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_boot_id);
  return boot_id;
}

static gint64 floor_div(gint64 a, gint64 b) { return a / b - (a % b < 0); }

static char *instant_text(gint64 at_ms, gboolean with_ms, char *text) {
  time_t seconds = (time_t)floor_div(at_ms, 1000);
  int ms = (int)(at_ms - (gint64)seconds * 1000);
  struct tm tm;
  gmtime_r(&seconds, &tm);
  int n = g_snprintf(text, PAWL_INSTANT_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
    tm.tm_min, tm.tm_sec);
  if (with_ms) n += g_snprintf(text + n, (gulong)(PAWL_INSTANT_TEXT - n), ".%03d", ms);
  g_strlcpy(text + n, "Z", (gsize)(PAWL_INSTANT_TEXT - n));
  return text;
}

char *pawl_instant_text(gint64 at_ms, char text[PAWL_INSTANT_TEXT]) { return instant_text(at_ms, TRUE, text); }
char *pawl_instant_text_short(gint64 at_ms, char text[PAWL_INSTANT_TEXT]) { return instant_text(at_ms, at_ms % 1000 != 0, text); }

/* Exactly `digits` decimal digits at *p, moved past. */
static gboolean take_number(const char **p, int digits, int low, int high, int *ret) {
  int value = 0;
  for (int i = 0; i < digits; i++) {
    if (!g_ascii_isdigit((*p)[i])) return FALSE;
    value = value * 10 + ((*p)[i] - '0');
  }
  if (value < low || value > high) return FALSE;
  *p += digits;
  *ret = value;
  return TRUE;
}

static gboolean take(const char **p, const char *any_of) {
  if (**p == '\0' || strchr(any_of, **p) == NULL) return FALSE;
  (*p)++;
  return TRUE;
}

static gboolean take_offset(const char **p, int *ret_minutes) {
  if (take(p, "Zz")) {
    *ret_minutes = 0;
    return TRUE;
  }
  int sign = **p == '-' ? -1 : 1, hours = 0, minutes = 0;
  if (!take(p, "+-") || !take_number(p, 2, 0, 23, &hours)) return FALSE;
  take(p, ":");
  if (!take_number(p, 2, 0, 59, &minutes)) return FALSE;
  *ret_minutes = sign * (hours * 60 + minutes);
  return TRUE;
}

static gboolean bad_instant(const char *text, const char *why, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%.60s' is no instant: %s; write it as 2027-01-31T02:00:00Z", text, why);
  return FALSE;
}

gboolean pawl_instant_parse(const char *text, gint64 *ret_at_ms, GError **error) {
  const char *p = text;
  int year, month, day, hour, minute, second = 0, offset_minutes, ms = 0;
  if (!take_number(&p, 4, 1970, 2900, &year)) return bad_instant(text, "the year must have four digits, 1970 to 2900", error);
  if (!take(&p, "-") || !take_number(&p, 2, 1, 12, &month)) return bad_instant(text, "the month must be 01 to 12", error);
  if (!take(&p, "-") || !take_number(&p, 2, 1, 31, &day)) return bad_instant(text, "the day must be 01 to 31", error);
  if (!g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year)) return bad_instant(text, "there is no such day", error);
  if (!take(&p, "Tt ") || !take_number(&p, 2, 0, 23, &hour) || !take(&p, ":") || !take_number(&p, 2, 0, 59, &minute))
    return bad_instant(text, "the time must follow as T00:00 to T23:59", error);
  if (take(&p, ":") && !take_number(&p, 2, 0, 59, &second)) return bad_instant(text, "the seconds must be 00 to 59", error);
  if (take(&p, ".,")) {
    int scale = 100, digits = 0;
    for (; g_ascii_isdigit(*p) && digits < 9; p++, digits++, scale /= 10) ms += (*p - '0') * scale;
    if (digits == 0) return bad_instant(text, "digits must follow the decimal point", error);
  }
  if (!take_offset(&p, &offset_minutes)) return bad_instant(text, "it needs a zone, Z or +01:00", error);
  if (*p != '\0') return bad_instant(text, "there is text after it", error);
  struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour, .tm_min = minute, .tm_sec = second};
  gint64 at_ms = ((gint64)timegm(&tm) - offset_minutes * 60) * 1000 + ms;
  if (at_ms < 0 || at_ms > PAWL_AT_MAX_MS) return bad_instant(text, "it lies outside 1970 to 2900", error);
  *ret_at_ms = at_ms;
  return TRUE;
}

static const struct {
  const char *name;
  gint64 ms;
} units[] = {
  {"w", 7 * PAWL_DAY_MS},
  {"d", PAWL_DAY_MS},
  {"h", PAWL_HOUR_MS},
  {"m", PAWL_MINUTE_MS},
  {"s", PAWL_SECOND_MS},
  {"ms", 1},
};

static gboolean bad_duration(const char *text, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID,
    "'%.60s' is no duration; write it as 250ms, 30s, 15m, 1h30m or 2d (units from large to small, at most 3650d)", text);
  return FALSE;
}

gboolean pawl_duration_parse(const char *text, gint64 *ret_ms, GError **error) {
  const gint64 max = 3650 * PAWL_DAY_MS;
  const char *p = text;
  gint64 total = 0;
  gsize next_unit = 0;
  if (*p == '\0') return bad_duration(text, error);
  while (*p != '\0') {
    gint64 value = 0;
    if (!g_ascii_isdigit(*p)) return bad_duration(text, error);
    for (; g_ascii_isdigit(*p); p++) {
      value = value * 10 + (*p - '0');
      if (value > max) return bad_duration(text, error);
    }
    gsize letters = 0;
    while (g_ascii_isalpha(p[letters])) letters++;
    if (letters == 0) { /* bare seconds, alone */
      if (*p != '\0' || next_unit != 0) return bad_duration(text, error);
      total = value > max / 1000 ? max + 1 : value * 1000;
      break;
    }
    gsize u = next_unit;
    while (u < G_N_ELEMENTS(units) && !(strlen(units[u].name) == letters && strncmp(units[u].name, p, letters) == 0)) u++;
    if (u == G_N_ELEMENTS(units) || value > max / units[u].ms) return bad_duration(text, error);
    total += value * units[u].ms;
    next_unit = u + 1;
    p += letters;
  }
  if (total > max) return bad_duration(text, error);
  *ret_ms = total;
  return TRUE;
}

char *pawl_duration_text(gint64 ms) {
  if (ms == 0) return g_strdup("0s");
  GString *out = g_string_new(ms < 0 ? "-" : "");
  guint64 left = ms < 0 ? (guint64)-ms : (guint64)ms;
  for (gsize u = 1; u < G_N_ELEMENTS(units); u++) {
    guint64 n = left / (guint64)units[u].ms;
    if (n > 0) g_string_append_printf(out, "%" G_GUINT64_FORMAT "%s", n, units[u].name);
    left %= (guint64)units[u].ms;
  }
  return g_string_free(out, FALSE);
}
