/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: from an instant to the next one.
 *
 * First a calendar without offsets (pawl_cron_next_local): whole days as bits of a month, months and years jumped over, years
 * without a matching day known by their kind (14 of them: leap or not, weekday of 1 January). Then the zone's spans of constant offset: a
 * local second is found in a span, or the search goes on where the next local second may lie. An answer costs some hundred
 * nanoseconds; "never" costs at most one 400-year cycle of spans. */
#include "base/clock.h"
#include "civil/cron_private.h"

#define WEEK_BITS G_GUINT64_CONSTANT(0x10204081) /* bits 0, 7, 14, 21, 28 */
#define FAR_S (27 * 3600)                        /* more than any offset */
#define CYCLE_S (G_GINT64_CONSTANT(146097) * PAWL_DAY_S)

/* nW and LW: the nearest Monday to Friday within the month. */
static int nearest_workday(int day, int n_days, int first_weekday) {
  int weekday = (first_weekday + day - 1) % 7;
  if (weekday == 6) return day > 1 ? day - 1 : day + 2;
  if (weekday == 0) return day < n_days ? day + 1 : day - 2;
  return day;
}

static guint32 days_of_month_bits(const PawlCron *cron, int n_days, int first_weekday) {
  guint32 bits = cron->days;
  for (guint32 left = cron->days_from_last; left != 0; left &= left - 1) {
    int day = n_days - __builtin_ctz(left);
    if (day >= 1) bits |= 1u << day;
  }
  for (guint32 left = cron->nearest; left != 0; left &= left - 1) {
    int day = __builtin_ctz(left);
    if (day <= n_days) bits |= 1u << nearest_workday(day, n_days, first_weekday);
  }
  if (cron->last_workday) {
    int weekday = (first_weekday + n_days - 1) % 7;
    bits |= 1u << (n_days - (weekday == 6 ? 1 : weekday == 0 ? 2 : 0));
  }
  return bits;
}

/* Bits 1..35 of the days whose weekday is in `weekdays`. */
static guint64 weekday_bits(guint8 weekdays, int first_weekday) {
  guint rotated = (((guint)weekdays | (guint)weekdays << 7) >> first_weekday) & 0x7f;
  return (rotated * WEEK_BITS) << 1;
}

static guint32 days_of_week_bits(const PawlCron *cron, int n_days, int first_weekday) {
  guint64 bits = weekday_bits(cron->weekdays, first_weekday);
  const guint64 week = 0xfe; /* days 1..7 */
  if (cron->last_weekdays != 0) bits |= weekday_bits(cron->last_weekdays, first_weekday) & (week << (n_days - 7));
  for (int n = 0; n < 5; n++)
    if (cron->nth_weekdays[n] != 0) bits |= weekday_bits(cron->nth_weekdays[n], first_weekday) & (week << (7 * n));
  return (guint32)(bits & G_MAXUINT32);
}

static guint32 month_bits(const PawlCron *cron, int n_days, int first_weekday) {
  if ((cron->day_star || cron->weekday_star) && cron->days == 0xfffffffe && cron->weekdays == 0x7f)
    return (guint32)((G_GUINT64_CONSTANT(2) << n_days) - 2);
  guint32 by_day = days_of_month_bits(cron, n_days, first_weekday), by_weekday = days_of_week_bits(cron, n_days, first_weekday);
  guint32 bits = cron->day_star || cron->weekday_star ? by_day & by_weekday : by_day | by_weekday;
  return bits & (guint32)((G_GUINT64_CONSTANT(2) << n_days) - 2);
}

static guint32 month_bits_in_year(const PawlCron *cron, gboolean leap, int first_of_january, int month) {
  if ((cron->months >> month & 1) == 0) return 0;
  int first_weekday = (first_of_january + pawl_date_days_before(leap, month)) % 7;
  return month_bits(cron, pawl_date_month_days(leap, month), first_weekday);
}

guint32 pawl_cron_month_days(const PawlCron *cron, int year, int month) {
  return month_bits_in_year(cron, pawl_date_is_leap(year), pawl_date_weekday(pawl_date_year_start(year)), month);
}

guint16 pawl_cron_year_kinds(const PawlCron *cron) {
  guint16 kinds = 0;
  for (int kind = 0; kind < 14; kind++)
    for (int month = 1; month <= 12; month++)
      if (month_bits_in_year(cron, kind / 7, kind % 7, month) != 0) {
        kinds |= (guint16)(1u << kind);
        break;
      }
  return kinds;
}

static gboolean year_is_allowed(const PawlCron *cron, int year) {
  if (cron->years != NULL &&
      (year < 1970 || year > PAWL_DATE_LAST_YEAR || (cron->years[(year - 1970) / 64] >> (year - 1970) % 64 & 1) == 0))
    return FALSE;
  return cron->year_kinds >> ((pawl_date_is_leap(year) ? 7 : 0) + pawl_date_weekday(pawl_date_year_start(year))) & 1;
}

/* The first matching day >= (year, month, day), as a day number. */
static gboolean next_day(const PawlCron *cron, int year, int month, int day, gint64 *ret_day) {
  for (; year <= PAWL_DATE_LAST_YEAR + 1; year++, month = 1, day = 1) {
    if (!year_is_allowed(cron, year)) continue;
    gboolean leap = pawl_date_is_leap(year);
    gint64 year_start = pawl_date_year_start(year);
    int january = pawl_date_weekday(year_start);
    for (; month <= 12; month++, day = 1) {
      guint32 bits = month_bits_in_year(cron, leap, january, month) & (guint32)(G_MAXUINT64 << day);
      if (bits == 0) continue;
      *ret_day = year_start + pawl_date_days_before(leap, month) + __builtin_ctz(bits) - 1;
      return TRUE;
    }
  }
  return FALSE;
}

static int first_bit(guint64 bits) { return __builtin_ctzll(bits); }
static int last_bit(guint64 bits) { return 63 - __builtin_clzll(bits); }

/* The lowest set bit >= low. */
static gboolean next_bit(guint64 bits, int low, int *ret) {
  if (low > 63 || (bits >>= low) == 0) return FALSE;
  *ret = low + __builtin_ctzll(bits);
  return TRUE;
}

/* The first allowed second of a day >= second. */
static gboolean next_of_day(const PawlCron *cron, int second, int *ret) {
  int hour, minute, s, low_minute, low_second;
  if (!next_bit(cron->hours, second / 3600, &hour)) return FALSE;
  low_minute = hour == second / 3600 ? second / 60 % 60 : 0;
  low_second = hour == second / 3600 ? second % 60 : 0;
  if (next_bit(cron->minutes, low_minute, &minute)) {
    if (next_bit(cron->seconds, minute == low_minute ? low_second : 0, &s)) {
      *ret = hour * 3600 + minute * 60 + s;
      return TRUE;
    }
    if (next_bit(cron->minutes, minute + 1, &minute)) {
      *ret = hour * 3600 + minute * 60 + first_bit(cron->seconds);
      return TRUE;
    }
  }
  if (!next_bit(cron->hours, hour + 1, &hour)) return FALSE;
  *ret = hour * 3600 + first_bit(cron->minutes) * 60 + first_bit(cron->seconds);
  return TRUE;
}

gboolean pawl_cron_next_local(const PawlCron *cron, gint64 local_s, gint64 *ret_local_s) {
  gint64 number = pawl_floor_div(local_s, PAWL_DAY_S), found;
  int year, month, day, second = (int)(local_s - number * PAWL_DAY_S);
  pawl_date_of(number, &year, &month, &day);
  if (!next_day(cron, year, month, day, &found)) return FALSE;
  if (found > number) second = 0;
  if (!next_of_day(cron, second, &second)) {
    pawl_date_of(++number, &year, &month, &day);
    if (!next_day(cron, year, month, day, &found)) return FALSE;
    next_of_day(cron, 0, &second);
  }
  *ret_local_s = found * PAWL_DAY_S + second;
  return TRUE;
}

gboolean pawl_cron_has_local(const PawlCron *cron, gint64 from_s, gint64 to_s) {
  gint64 local_s;
  return pawl_cron_next_local(cron, from_s, &local_s) && local_s < to_s;
}

/* Whether the start of the span stands for local times that its gap left out. */
static gboolean makes_up(const PawlCron *cron, const PawlZoneSpan *span) {
  gint64 gap_s = span->offset_s - span->before_s;
  if (cron->interval || gap_s <= 0 || gap_s > CRON_GAP_MAX_S) return FALSE;
  return pawl_cron_has_local(cron, span->from_s + span->before_s, span->from_s + span->offset_s);
}

/* The first local second of the span that counts: a fixed time is not played again in the second pass of an overlap. */
static gint64 span_local_start(const PawlCron *cron, const PawlZoneSpan *span) {
  if (span->from_s == G_MININT64) return G_MININT64;
  return span->from_s + (cron->interval ? span->offset_s : MAX(span->offset_s, span->before_s));
}

static gboolean next_calendar(const PawlCron *cron, gint64 at_s, gint64 *ret_at_s) {
  gint64 last_s = PAWL_AT_MAX_MS / 1000, local_s;
  if (cron->years == NULL) last_s = MIN(last_s, MAX(at_s, pawl_zone_periodic_from_s(cron->zone)) + CYCLE_S + 2 * 366 * PAWL_DAY_S);
  PawlZoneSpan span;
  pawl_zone_span(cron->zone, at_s, &span);
  for (;;) {
    if (span.from_s == at_s && makes_up(cron, &span)) {
      *ret_at_s = at_s;
      return TRUE;
    }
    gint64 search_s = MAX(at_s + span.offset_s, span_local_start(cron, &span));
    if (!pawl_cron_next_local(cron, search_s, &local_s)) {
      /* What lies further back by the clock may still come, where the next span starts behind this one's end. */
      if (span.to_s == G_MAXINT64) return FALSE;
    } else if (span.to_s == G_MAXINT64 || local_s - span.offset_s < span.to_s) {
      if (local_s - span.offset_s > PAWL_AT_MAX_MS / 1000) return FALSE;
      *ret_at_s = local_s - span.offset_s;
      return TRUE;
    }
    /* Nothing in this span. No later instant shows a local time before to_s - FAR_S, so spans that end before the next local second
     * from there can be passed over. */
    if (!pawl_cron_next_local(cron, span.to_s - FAR_S, &local_s)) return FALSE;
    at_s = MAX(span.to_s, local_s - FAR_S);
    if (at_s > last_s) return FALSE;
    pawl_zone_span(cron->zone, at_s, &span);
  }
}

gboolean pawl_cron_next(const PawlCron *cron, gint64 after_ms, gint64 *ret_at_ms) {
  gint64 after_s = pawl_floor_div(MAX(after_ms, -1), 1000), at_s = 0;
  if (cron->kind == CRON_REBOOT || after_ms >= PAWL_AT_MAX_MS) return FALSE;
  if (cron->kind == CRON_EVERY)
    at_s = after_s + cron->every_s;
  else if (!next_calendar(cron, after_s + 1, &at_s))
    return FALSE;
  if (at_s > PAWL_AT_MAX_MS / 1000) return FALSE;
  *ret_at_ms = at_s * 1000;
  return TRUE;
}

gboolean pawl_cron_matches(const PawlCron *cron, gint64 at_ms) {
  if (cron->kind == CRON_REBOOT || at_ms < 0 || at_ms > PAWL_AT_MAX_MS || at_ms % 1000 != 0) return FALSE;
  if (cron->kind == CRON_EVERY) return TRUE;
  gint64 at_s = at_ms / 1000;
  PawlZoneSpan span;
  pawl_zone_span(cron->zone, at_s, &span);
  if (span.from_s == at_s && makes_up(cron, &span)) return TRUE;
  gint64 local_s = at_s + span.offset_s;
  return local_s >= span_local_start(cron, &span) && pawl_cron_has_local(cron, local_s, local_s + 1);
}

/* The least distance between two matching days; 0: there are not two. */
static gint64 shortest_day_gap(const PawlCron *cron) {
  gint64 last = G_MININT64, shortest = 0;
  for (int year = 1970; year <= PAWL_DATE_LAST_YEAR && shortest != 1; year++) {
    if (!year_is_allowed(cron, year)) continue;
    for (int month = 1; month <= 12; month++) {
      gint64 before_first = pawl_date_day_number(year, month, 1) - 1;
      for (guint32 bits = pawl_cron_month_days(cron, year, month); bits != 0; bits &= bits - 1) {
        gint64 day = before_first + __builtin_ctz(bits);
        if (last != G_MININT64 && (shortest == 0 || day - last < shortest)) shortest = day - last;
        last = day;
      }
    }
  }
  return shortest;
}

static int bit_gap(guint64 bits) {
  int shortest = 0, last = -1;
  for (; bits != 0; bits &= bits - 1) {
    int bit = __builtin_ctzll(bits);
    if (last >= 0 && (shortest == 0 || bit - last < shortest)) shortest = bit - last;
    last = bit;
  }
  return shortest;
}

gint64 pawl_cron_shortest_gap_ms(const PawlCron *cron) {
  if (cron->kind == CRON_REBOOT) return 0;
  if (cron->kind == CRON_EVERY) return cron->every_s * 1000;
  gint64 day, gap = G_MAXINT64;
  if (!next_day(cron, 1970, 1, 1, &day)) return 0;
  gint64 in_minute = last_bit(cron->seconds) - first_bit(cron->seconds);
  gint64 in_hour = (last_bit(cron->minutes) - first_bit(cron->minutes)) * 60 + in_minute;
  gint64 in_day = (last_bit(cron->hours) - first_bit(cron->hours)) * 3600 + in_hour;
  int step;
  if ((step = bit_gap(cron->seconds)) > 0) gap = MIN(gap, step);
  if ((step = bit_gap(cron->minutes)) > 0) gap = MIN(gap, step * 60 - in_minute);
  if ((step = bit_gap(cron->hours)) > 0) gap = MIN(gap, step * 3600 - in_hour);
  if (gap > 1) {
    gint64 days = shortest_day_gap(cron);
    if (days > 0) gap = MIN(gap, days * PAWL_DAY_S - in_day);
  }
  return gap == G_MAXINT64 ? 0 : gap * 1000;
}
