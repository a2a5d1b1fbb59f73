/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to civil. Day numbers of the Gregorian calendar: 0 is 1970-01-01, negative before. Right for every year that this
 * room can meet (1900 to 9999). Months count from 1, weekdays from 0 = Sunday. */
#pragma once
#include <glib.h>

#define PAWL_DATE_LAST_YEAR 2900
#define PAWL_DAY_S 86400

static inline gint64 pawl_floor_div(gint64 a, gint64 b) { return a / b - (a % b < 0); }
static inline gint64 pawl_floor_mod(gint64 a, gint64 b) { return a % b < 0 ? a % b + b : a % b; }
static inline gboolean pawl_date_is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/* Day number of the first of January. */
static inline gint64 pawl_date_year_start(int year) {
  int before = year - 1;
  return (gint64)365 * (year - 1970) + (before / 4 - before / 100 + before / 400) - 477; /* 477 leap days until 1969 */
}

static inline int pawl_date_days_before(gboolean leap, int month) {
  static const guint16 days_before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  return days_before[month - 1] + (leap && month > 2);
}

static inline int pawl_date_month_days(gboolean leap, int month) { return month == 2 ? 28 + leap : 30 + ((month + month / 8) & 1); }

static inline gint64 pawl_date_day_number(int year, int month, int day) {
  return pawl_date_year_start(year) + pawl_date_days_before(pawl_date_is_leap(year), month) + day - 1;
}

static inline int pawl_date_weekday(gint64 day_number) { return (int)pawl_floor_mod(day_number + 4, 7); }

static inline void pawl_date_of(gint64 day_number, int *ret_year, int *ret_month, int *ret_day) {
  int year = (int)(1970 + pawl_floor_div(day_number * 400, 146097));
  while (pawl_date_year_start(year) > day_number) year--;
  while (pawl_date_year_start(year + 1) <= day_number) year++;
  gboolean leap = pawl_date_is_leap(year);
  int day_of_year = (int)(day_number - pawl_date_year_start(year));
  int month = day_of_year / 32 + 1;
  if (month < 12 && pawl_date_days_before(leap, month + 1) <= day_of_year) month++;
  *ret_year = year;
  *ret_month = month;
  *ret_day = day_of_year - pawl_date_days_before(leap, month) + 1;
}
