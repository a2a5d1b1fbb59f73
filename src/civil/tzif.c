/* SPDX-License-Identifier: Apache-2.0 */
/* Reads zone files: RFC 8536 (TZif) and its footer, a POSIX TZ string with the extended hours. */
#include "civil/date.h"
#include "civil/zone_private.h"

#include <string.h>

#define TZIF_HEADER_BYTES 44
#define OFFSET_MAX_S (26 * 3600)

typedef struct {
  guint32 n_isut, n_isstd, n_leap, n_times, n_types, n_chars;
  gsize time_bytes;
  const guint8 *body;
  gsize body_bytes;
} TzifBlock;

static guint32 get_u32(const guint8 *p) { return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3]; }
static gint64 get_i64(const guint8 *p) { return (gint64)((guint64)get_u32(p) << 32 | get_u32(p + 4)); }

static gboolean read_block(const guint8 *bytes, gsize n_bytes, gsize time_bytes, TzifBlock *ret) {
  if (n_bytes < TZIF_HEADER_BYTES || memcmp(bytes, "TZif", 4) != 0) return FALSE;
  TzifBlock b = {.n_isut = get_u32(bytes + 20),
    .n_isstd = get_u32(bytes + 24),
    .n_leap = get_u32(bytes + 28),
    .n_times = get_u32(bytes + 32),
    .n_types = get_u32(bytes + 36),
    .n_chars = get_u32(bytes + 40),
    .time_bytes = time_bytes};
  const guint32 cap = 10000;
  if (b.n_isut > cap || b.n_isstd > cap || b.n_leap > cap || b.n_times > cap || b.n_types > 256 || b.n_types == 0 || b.n_chars > cap)
    return FALSE;
  b.body = bytes + TZIF_HEADER_BYTES;
  b.body_bytes = b.n_times * (time_bytes + 1) + b.n_types * 6 + b.n_chars + b.n_leap * (time_bytes + 4) + b.n_isstd + b.n_isut;
  if (b.body_bytes > n_bytes - TZIF_HEADER_BYTES) return FALSE;
  *ret = b;
  return TRUE;
}

static gboolean take_block(const TzifBlock *b, PawlTzData *data, const char **ret_why) {
  const guint8 *types = b->body + b->n_times * b->time_bytes, *infos = types + b->n_times;
  for (guint i = 0; i < b->n_types; i++) {
    gint32 offset = (gint32)get_u32(infos + 6 * i);
    *ret_why = "an offset in it is out of range";
    if (offset < -OFFSET_MAX_S || offset > OFFSET_MAX_S) return FALSE;
  }
  data->at_s = g_new(gint64, b->n_times + 1);
  data->offset_s = g_new(gint32, b->n_times + 1);
  data->rule_from_s = G_MININT64;
  gint32 offset = data->first_offset_s = (gint32)get_u32(infos);
  for (guint i = 0; i < b->n_times; i++) {
    const guint8 *p = b->body + i * b->time_bytes;
    gint64 at = b->time_bytes == 8 ? get_i64(p) : (gint32)get_u32(p);
    *ret_why = "its changes are not in order";
    if (types[i] >= b->n_types || (i > 0 && at <= data->rule_from_s)) return FALSE;
    data->rule_from_s = at;
    gint32 next = (gint32)get_u32(infos + 6 * types[i]);
    if (next == offset) continue;
    offset = next;
    if (at < 0) {
      data->first_offset_s = offset;
      continue;
    }
    data->at_s[data->n] = at;
    data->offset_s[data->n++] = offset;
  }
  data->at_s = g_renew(gint64, data->at_s, data->n + 1);
  data->offset_s = g_renew(gint32, data->offset_s, data->n + 1);
  return TRUE;
}

static gboolean take_footer(const guint8 *bytes, gsize n_bytes, PawlTzData *data) {
  if (n_bytes < 2 || bytes[0] != '\n') return FALSE;
  const guint8 *end = memchr(bytes + 1, '\n', n_bytes - 1);
  if (end == NULL) return FALSE;
  g_autofree char *text = g_strndup((const char *)bytes + 1, (gsize)(end - bytes - 1));
  if (*text == '\0') return TRUE;
  data->has_rule = pawl_tz_rule_parse(text, &data->rule);
  return data->has_rule;
}

gboolean pawl_tzif_parse(const guint8 *bytes, gsize n_bytes, PawlTzData *ret_data, const char **ret_why) {
  PawlTzData data = {0};
  TzifBlock block;
  *ret_why = "it is no zone file";
  if (!read_block(bytes, n_bytes, 4, &block)) return FALSE;
  gboolean wide = bytes[4] >= '2';
  if (wide) {
    bytes = block.body + block.body_bytes;
    n_bytes -= TZIF_HEADER_BYTES + block.body_bytes;
    if (!read_block(bytes, n_bytes, 8, &block)) return FALSE;
  }
  *ret_why = "it counts leap seconds";
  if (block.n_leap != 0) return FALSE;
  gboolean ok = take_block(&block, &data, ret_why);
  if (ok && wide) {
    *ret_why = "its footer is damaged";
    ok = take_footer(block.body + block.body_bytes, n_bytes - TZIF_HEADER_BYTES - block.body_bytes, &data);
  }
  if (!ok) {
    pawl_tz_data_clear(&data);
    return FALSE;
  }
  *ret_data = data;
  return TRUE;
}

void pawl_tz_data_clear(PawlTzData *data) {
  g_free(data->at_s);
  g_free(data->offset_s);
  *data = (PawlTzData){0};
}

static gboolean take_int(const char **p, int low, int high, int *ret) {
  int value = 0;
  const char *start = *p;
  for (; g_ascii_isdigit(**p) && value <= high; (*p)++) value = value * 10 + (**p - '0');
  if (*p == start || value < low || value > high) return FALSE;
  *ret = value;
  return TRUE;
}

static gboolean take_name(const char **p) {
  const char *start = *p;
  if (**p == '<') {
    while (**p != '\0' && **p != '>') (*p)++;
    return *(*p)++ == '>';
  }
  while (g_ascii_isalpha(**p)) (*p)++;
  return *p - start >= 3;
}

static gboolean take_time(const char **p, int max_hours, gint32 *ret_s) {
  int sign = **p == '-' ? -1 : 1, hours, minutes = 0, seconds = 0;
  if (**p == '-' || **p == '+') (*p)++;
  if (!take_int(p, 0, max_hours, &hours)) return FALSE;
  if (**p == ':' && ((*p)++, !take_int(p, 0, 59, &minutes))) return FALSE;
  if (**p == ':' && ((*p)++, !take_int(p, 0, 59, &seconds))) return FALSE;
  *ret_s = sign * (hours * 3600 + minutes * 60 + seconds);
  return TRUE;
}

static gboolean take_day(const char **p, PawlTzDay *ret) {
  PawlTzDay day = {.time_s = 7200};
  if (*(*p)++ != ',') return FALSE;
  if (**p == 'M') {
    day.kind = TZ_DAY_MONTH_WEEK;
    (*p)++;
    if (!take_int(p, 1, 12, &day.month) || *(*p)++ != '.' || !take_int(p, 1, 5, &day.week) || *(*p)++ != '.' ||
        !take_int(p, 0, 6, &day.weekday))
      return FALSE;
  } else if (**p == 'J') {
    day.kind = TZ_DAY_JULIAN;
    (*p)++;
    if (!take_int(p, 1, 365, &day.day)) return FALSE;
  } else {
    day.kind = TZ_DAY_ZERO_BASED;
    if (!take_int(p, 0, 365, &day.day)) return FALSE;
  }
  if (**p == '/' && ((*p)++, !take_time(p, 167, &day.time_s))) return FALSE;
  *ret = day;
  return TRUE;
}

gboolean pawl_tz_rule_parse(const char *text, PawlTzRule *ret_rule) {
  PawlTzRule rule = {0};
  const char *p = text;
  gint32 west_s;
  if (!take_name(&p) || !take_time(&p, 24, &west_s)) return FALSE;
  rule.std_s = -west_s;
  if (*p != '\0') {
    if (!take_name(&p)) return FALSE;
    rule.dst_s = rule.std_s + 3600;
    if (*p != ',') {
      if (!take_time(&p, 24, &west_s)) return FALSE;
      rule.dst_s = -west_s;
    }
    if (!take_day(&p, &rule.start) || !take_day(&p, &rule.end) || *p != '\0') return FALSE;
    rule.has_dst = rule.dst_s != rule.std_s;
  }
  *ret_rule = rule;
  return TRUE;
}

gint64 pawl_tz_rule_change(const PawlTzRule *rule, gboolean start, int year) {
  const PawlTzDay *day = start ? &rule->start : &rule->end;
  gboolean leap = pawl_date_is_leap(year);
  gint64 number = pawl_date_year_start(year);
  switch (day->kind) {
  case TZ_DAY_JULIAN: number += day->day - 1 + (leap && day->day >= 60); break;
  case TZ_DAY_ZERO_BASED: number += day->day; break;
  case TZ_DAY_MONTH_WEEK: {
    number += pawl_date_days_before(leap, day->month);
    int in_month = (day->weekday - pawl_date_weekday(number) + 7) % 7 + 7 * (day->week - 1);
    while (in_month >= pawl_date_month_days(leap, day->month)) in_month -= 7;
    number += in_month;
    break;
  }
  }
  return number * PAWL_DAY_S + day->time_s - (start ? rule->std_s : rule->dst_s);
}
