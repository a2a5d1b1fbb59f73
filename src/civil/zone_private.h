/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to civil. What a zone file says (tzif.c reads it), and a zone as a row of spans of constant offset (zone.c).
 *
 * The file holds changes up to a year (2037, or the last irregular one), and a footer rule for all years after. The changes are kept as
 * they are, the rule is evaluated at each look: a zone costs 3 KB instead of the 40 KB that every change until 2900 would take.
 *
 * GLib's GTimeZone is not used: up to 2.74 it reads a rule whose daylight time lies behind its standard time as an hour off
 * (Europe/Dublin from 2038 on), and it has no next change. The tests use it as a second opinion elsewhere. */
#pragma once
#include "civil/civil.h"

/* A day of the footer rule: "M3.5.0/2" (month, week 5 = last, weekday), "J60" or "60". */
typedef struct {
  enum { TZ_DAY_MONTH_WEEK, TZ_DAY_JULIAN, TZ_DAY_ZERO_BASED } kind;
  int month, week, weekday; /* TZ_DAY_MONTH_WEEK */
  int day;                  /* the other two */
  gint32 time_s;            /* after local midnight, -167 h to 167 h */
} PawlTzDay;

typedef struct {
  gboolean has_dst;     /* FALSE: std_s holds for ever */
  gint32 std_s, dst_s;  /* east of UTC */
  PawlTzDay start, end; /* start: by the clock of std_s; end: by the clock of dst_s */
} PawlTzRule;

typedef struct {
  gint32 first_offset_s; /* until the first change */
  guint n;               /* changes from 1970 on, ascending, each of a different offset than before */
  gint64 *at_s;
  gint32 *offset_s;
  gboolean has_rule;
  PawlTzRule rule;
  gint64 rule_from_s; /* the rule holds from here */
} PawlTzData;

/* Fills `ret_data` from the bytes of a TZif file (RFC 8536, versions 1 to 4). FALSE with a reason when it is none, is damaged, or counts
 * leap seconds. */
gboolean pawl_tzif_parse(const guint8 *bytes, gsize n_bytes, PawlTzData *ret_data, const char **ret_why);
void pawl_tz_data_clear(PawlTzData *data);
/* A footer such as "CET-1CEST,M3.5.0,M10.5.0/3". */
gboolean pawl_tz_rule_parse(const char *text, PawlTzRule *ret_rule);
/* The instant in seconds at which the rule changes to daylight time (`start`) or back in `year`. */
gint64 pawl_tz_rule_change(const PawlTzRule *rule, gboolean start, int year);

/* The longest stretch of one offset around an instant. */
typedef struct {
  gint64 from_s, to_s; /* [from, to); G_MININT64 and G_MAXINT64: without end */
  gint32 offset_s;
  gint32 before_s; /* the offset before from_s; offset_s where from_s is G_MININT64 */
} PawlZoneSpan;
void pawl_zone_span(const PawlZone *zone, gint64 at_s, PawlZoneSpan *ret_span);
/* From here on the zone repeats itself every 400 years. */
gint64 pawl_zone_periodic_from_s(const PawlZone *zone);
