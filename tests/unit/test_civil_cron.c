/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of cron expressions, against a slow second evaluator that steps minute by minute; H; texts; errors; warnings. */
#include "test_civil.h"

#define NEVER G_MAXINT64

static const char *const zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia",
  "America/Sao_Paulo", "Asia/Kathmandu", "Europe/Dublin", "Africa/Cairo", "America/St_Johns", "Pacific/Chatham", "Antarctica/Troll",
  "America/Havana"};

static const char *const pool[] = {"* * * * *", "*/5 * * * *", "30 2 * * *", "15,45 1-3 * * *", "0 0 29 2 *", "H H * * *", "H/20 2 * * 1-5",
  "0 0 1W,15W,LW * *", "59 23 L * *", "0 12 L-3 * *", "0 9 * * 1#1,5L", "0 0 13 * 5", "0 0 */2 * 1", "30 1 * * 0", "0 22-2 * * *",
  "*/7 */5 */9 */5 */2", "0 0 1 1 *", "0 0 0 1 1 * 2024-2030", "*/20 30 2 * * *", "H H H H H H", "0 0 31W 1-3 *", "0 3 8-14 3 */7",
  "@hourly", "@weekly"};

static gint64 next_or_never(const PawlCron *cron, gint64 after_ms) {
  gint64 at_ms = NEVER;
  return pawl_cron_next(cron, after_ms, &at_ms) ? at_ms : NEVER;
}

static gint64 random_instant(guint64 *seed) { return random_below(seed, instant("2100-01-01T00:00:00Z")); }

/* A moment near a change of offset, where the zone has one. */
static gint64 random_moment(const PawlZone *zone, guint64 *seed) {
  gint64 at_ms = random_instant(seed);
  if (pawl_zone_next_change(zone, at_ms, &at_ms)) at_ms += random_below(seed, 2 * PAWL_DAY_MS) - PAWL_DAY_MS;
  return MAX(at_ms, 0);
}

static void test_next_is_later_and_matches(void) {
  guint64 seed = 0x5eed0002;
  for (gsize z = 0; z < G_N_ELEMENTS(zones); z++)
    for (gsize e = 0; e < G_N_ELEMENTS(pool); e++) {
      g_autoptr(PawlCron) cron = cron_of(pool[e], zones[z]);
      for (int i = 0; i < 40; i++) {
        gint64 t = random_moment(pawl_cron_zone(cron), &seed), at_ms = next_or_never(cron, t);
        if (at_ms == NEVER) continue;
        g_assert_cmpint(at_ms, >, t);
        g_assert_cmpint(at_ms % 1000, ==, 0);
        g_assert_true(pawl_cron_matches(cron, at_ms));
        g_assert_false(pawl_cron_matches(cron, at_ms + 1));
        g_assert_cmpint(next_or_never(cron, at_ms - 1), ==, at_ms);
        gint64 between_ms = t + random_below(&seed, at_ms - t); /* nothing lies between, so the answer stays */
        g_assert_cmpint(next_or_never(cron, between_ms), ==, at_ms);
      }
    }
}

/* Every instant of a stretch by the walk, and by asking each second. */
static void test_matches_agrees_with_next(void) {
  guint64 seed = 0x5eed0003;
  for (gsize z = 0; z < G_N_ELEMENTS(zones); z++)
    for (gsize e = 0; e < G_N_ELEMENTS(pool); e++) {
      g_autoptr(PawlCron) cron = cron_of(pool[e], zones[z]);
      gint64 start_ms = random_moment(pawl_cron_zone(cron), &seed) / 1000 * 1000, next_ms = next_or_never(cron, start_ms - 1);
      for (gint64 at_ms = start_ms; at_ms < start_ms + 3 * PAWL_HOUR_MS; at_ms += 1000) {
        g_assert_cmpint(pawl_cron_matches(cron, at_ms), ==, at_ms == next_ms);
        if (at_ms == next_ms) next_ms = next_or_never(cron, at_ms);
      }
    }
}

/* The second evaluator: plain sets of values. */
typedef struct {
  gboolean minute[60], hour[24], day[32], month[13], weekday[7];
  gboolean either, interval;
} Sets;

static void random_field(guint64 *seed, GString *text, gboolean *set, int low, int high, gboolean *ret_starred, gboolean *ret_ranged) {
  int a = low + (int)random_below(seed, high - low + 1), b = low + (int)random_below(seed, high - low + 1),
      step = 1 + (int)random_below(seed, 12);
  *ret_starred = FALSE;
  switch (random_below(seed, 5)) {
  case 0:
    g_string_append_printf(text, "*/%d ", step);
    *ret_starred = *ret_ranged = TRUE;
    for (int v = low; v <= high; v += step) set[v] = TRUE;
    break;
  case 1:
    g_string_append_printf(text, "%d-%d ", a, b);
    *ret_ranged = TRUE;
    for (int v = a;; v = v == high ? low : v + 1) {
      set[v] = TRUE;
      if (v == b) break;
    }
    break;
  case 2:
    g_string_append_printf(text, "%d,%d ", a, b);
    set[a] = set[b] = TRUE;
    break;
  case 3:
    g_string_append_printf(text, "%d ", a);
    set[a] = TRUE;
    break;
  default:
    g_string_append(text, "* ");
    *ret_starred = *ret_ranged = TRUE;
    for (int v = low; v <= high; v++) set[v] = TRUE;
  }
}

static void random_sets(guint64 *seed, Sets *sets, GString *text) {
  gboolean starred, ranged = FALSE, day_starred, weekday_starred, any = FALSE;
  *sets = (Sets){0};
  random_field(seed, text, sets->minute, 0, 59, &starred, &ranged);
  random_field(seed, text, sets->hour, 0, 23, &starred, &ranged);
  random_field(seed, text, sets->day, 1, 31, &day_starred, &any);
  random_field(seed, text, sets->month, 1, 12, &starred, &any);
  random_field(seed, text, sets->weekday, 0, 6, &weekday_starred, &any);
  g_string_truncate(text, text->len - 1);
  sets->interval = ranged;
  sets->either = !day_starred && !weekday_starred;
}

static gboolean in_sets(const Sets *sets, gint64 local_ms) {
  g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(local_ms / 1000);
  gboolean day = sets->day[g_date_time_get_day_of_month(date)], weekday = sets->weekday[g_date_time_get_day_of_week(date) % 7];
  return sets->minute[g_date_time_get_minute(date)] && sets->hour[g_date_time_get_hour(date)] && sets->month[g_date_time_get_month(date)] &&
         (sets->either ? day || weekday : day && weekday);
}

/* Whether the minute at at_ms is an instant, from the offsets around it alone. */
static gboolean fires(const Sets *sets, const PawlZone *zone, gint64 at_ms) {
  gint64 offset_ms = (gint64)pawl_zone_offset_s(zone, at_ms) * 1000, before_ms = (gint64)pawl_zone_offset_s(zone, at_ms - 1) * 1000;
  if (sets->interval) return in_sets(sets, at_ms + offset_ms);
  if (before_ms < offset_ms && offset_ms - before_ms <= 3 * PAWL_HOUR_MS)
    for (gint64 local_ms = at_ms + before_ms; local_ms < at_ms + offset_ms; local_ms += PAWL_MINUTE_MS)
      if (in_sets(sets, local_ms)) return TRUE;
  if (!in_sets(sets, at_ms + offset_ms)) return FALSE;
  for (gint64 earlier_ms = at_ms - PAWL_MINUTE_MS; earlier_ms > at_ms - 25 * PAWL_HOUR_MS; earlier_ms -= PAWL_MINUTE_MS)
    if (earlier_ms + (gint64)pawl_zone_offset_s(zone, earlier_ms) * 1000 == at_ms + offset_ms) return FALSE; /* the second pass */
  return TRUE;
}

static void test_second_evaluator(void) {
  guint64 seed = 0x5eed0004;
  for (int i = 0; i < 400; i++) {
    Sets sets;
    g_autoptr(GString) text = g_string_new(NULL);
    random_sets(&seed, &sets, text);
    g_autoptr(PawlCron) cron = cron_of(text->str, zones[random_below(&seed, G_N_ELEMENTS(zones))]);
    /* From 1975: the offsets of all these zones are whole minutes. */
    gint64 start_ms = (MAX(random_moment(pawl_cron_zone(cron), &seed), instant("1975-01-01T00:00:00Z"))) / PAWL_MINUTE_MS * PAWL_MINUTE_MS;
    gint64 next_ms = next_or_never(cron, start_ms - 1);
    for (gint64 at_ms = start_ms; at_ms < start_ms + PAWL_DAY_MS; at_ms += PAWL_MINUTE_MS) {
      gboolean expected = fires(&sets, pawl_cron_zone(cron), at_ms);
      if (expected != (at_ms == next_ms))
        g_error("'%s' in %s at %" G_GINT64_FORMAT ": expected %d", text->str, pawl_zone_name(pawl_cron_zone(cron)), at_ms, expected);
      if (expected) next_ms = next_or_never(cron, at_ms);
    }
  }
}

static int count_of_day(const char *expression, const char *zone_name, const char *from, const char *to) {
  g_autoptr(PawlCron) cron = cron_of(expression, zone_name);
  int n = 0;
  for (gint64 at_ms = next_or_never(cron, instant(from) - 1); at_ms < instant(to); at_ms = next_or_never(cron, at_ms)) n++;
  return n;
}

static void test_minutes_of_change_days(void) {
  g_assert_cmpint(count_of_day("* * * * *", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"), ==, 1380);
  g_assert_cmpint(count_of_day("* * * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"), ==, 1500);
  g_assert_cmpint(count_of_day("* * 4 10 *", "Australia/Lord_Howe", "2026-10-01T00:00:00Z", "2026-10-08T00:00:00Z"), ==, 1410);
  g_assert_cmpint(count_of_day("* * 5 4 *", "Australia/Lord_Howe", "2026-04-01T00:00:00Z", "2026-04-10T00:00:00Z"), ==, 1470);
  g_assert_cmpint(count_of_day("* * 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-02-01T00:00:00Z"), ==, 0);
  g_assert_cmpint(count_of_day("* * 29 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-02-01T00:00:00Z"), ==, 1440);
  g_assert_cmpint(count_of_day("30 2 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), ==, 365);
}

static void test_independent_of_tz(void) {
  static const char *const values[] = {"UTC", "Asia/Tokyo", "America/New_York", ":bogus", "XYZ-13"};
  gint64 expected = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
    g_setenv("TZ", values[i], TRUE);
    tzset();
    g_autoptr(PawlCron) cron = cron_of("30 2 * * 1", "Europe/Berlin");
    gint64 at_ms = next_or_never(cron, instant("2026-03-01T00:00:00Z"));
    if (i == 0) expected = at_ms;
    g_assert_cmpint(at_ms, ==, expected);
  }
  g_unsetenv("TZ");
  tzset();
}

static void test_edges_of_time(void) {
  g_autoptr(PawlCron) minutely = cron_of("* * * * *", "UTC"), year_1970 = cron_of("0 0 0 1 1 * 1970", "UTC"),
                      west = cron_of("0 0 0 1 1 * 1970", "America/New_York");
  g_assert_cmpint(next_or_never(minutely, G_MININT64), ==, 0);
  g_assert_cmpint(next_or_never(minutely, -1), ==, 0);
  g_assert_cmpint(next_or_never(minutely, 1), ==, PAWL_MINUTE_MS);
  g_assert_cmpint(next_or_never(minutely, 59999), ==, PAWL_MINUTE_MS);
  g_assert_cmpint(next_or_never(minutely, instant("2900-12-31T23:58:00Z")), ==, instant("2900-12-31T23:59:00Z"));
  g_assert_cmpint(next_or_never(minutely, instant("2900-12-31T23:59:00Z")), ==, NEVER);
  g_assert_cmpint(next_or_never(minutely, G_MAXINT64), ==, NEVER);
  g_assert_cmpint(next_or_never(year_1970, -1), ==, 0);
  g_assert_cmpint(next_or_never(year_1970, 0), ==, NEVER);
  g_assert_cmpint(next_or_never(west, -1), ==, 5 * PAWL_HOUR_MS);
  g_assert_false(pawl_cron_matches(minutely, -PAWL_MINUTE_MS));
  g_assert_false(pawl_cron_matches(minutely, G_MAXINT64));
}

static void test_year_2900(void) {
  g_autoptr(PawlCron) gap = cron_of("30 2 * 3 *", "Europe/Berlin"), overlap = cron_of("30 2 * 10 *", "Europe/Berlin");
  g_assert_cmpint(next_or_never(gap, instant("2900-03-27T12:00:00Z")), ==, instant("2900-03-28T01:00:00Z"));
  g_assert_cmpint(next_or_never(overlap, instant("2900-10-30T12:00:00Z")), ==, instant("2900-10-31T00:30:00Z"));
  g_assert_cmpint(next_or_never(overlap, instant("2900-10-31T00:30:00Z")), ==, NEVER);
}

static void test_hash(void) {
  g_autoptr(PawlZone) utc = zone_of("UTC");
  gboolean minutes[60] = {0};
  int distinct = 0;
  for (int i = 0; i < 200; i++) {
    g_autofree char *key = g_strdup_printf("shop/task%d/nightly", i);
    g_autoptr(PawlCron) a = pawl_cron_parse("H * * * *", PAWL_CRON_MINUTES, key, utc, NULL),
                        b = pawl_cron_parse("H * * * *", PAWL_CRON_MINUTES, key, utc, NULL);
    g_autoptr(PawlCron) fifth = pawl_cron_parse("H/5 * * * *", PAWL_CRON_MINUTES, key, utc, NULL);
    g_autoptr(PawlCron) day = pawl_cron_parse("0 0 H 2 *", PAWL_CRON_MINUTES, key, utc, NULL);
    g_autoptr(PawlCron) office = pawl_cron_parse("H(10-12) H(8-17)/3 * * *", PAWL_CRON_MINUTES, key, utc, NULL);
    gint64 first_ms = next_or_never(a, -1), at_ms;
    g_assert_cmpint(next_or_never(b, -1), ==, first_ms);
    g_assert_cmpint(next_or_never(a, first_ms), ==, first_ms + PAWL_HOUR_MS);
    distinct += !minutes[first_ms / PAWL_MINUTE_MS];
    minutes[first_ms / PAWL_MINUTE_MS] = TRUE;
    int n = 0;
    for (at_ms = next_or_never(fifth, -1); at_ms < PAWL_HOUR_MS; at_ms = next_or_never(fifth, at_ms)) n++;
    g_assert_cmpint(n, ==, 12);
    g_assert_cmpint(pawl_cron_shortest_gap_ms(fifth), ==, 5 * PAWL_MINUTE_MS);
    for (int k = 0, year = 1970; k < 20; k++, year++) { /* a day that every February has */
      at_ms = next_or_never(day, k == 0 ? -1 : at_ms);
      g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(at_ms / 1000);
      g_assert_cmpint(g_date_time_get_year(date), ==, year);
    }
    for (at_ms = next_or_never(office, -1), n = 0; at_ms < PAWL_DAY_MS; at_ms = next_or_never(office, at_ms), n++) {
      gint64 minute = at_ms / PAWL_MINUTE_MS % 60, hour = at_ms / PAWL_HOUR_MS;
      g_assert_true(minute >= 10 && minute <= 12 && hour >= 8 && hour <= 17);
    }
    g_assert_true(n == 3 || n == 4);
  }
  g_assert_cmpint(distinct, >, 50);
  g_autoptr(PawlCron) golden = pawl_cron_parse("H H H * *", PAWL_CRON_MINUTES, "shop/report/nightly", utc, NULL); /* on every machine */
  char text[PAWL_INSTANT_TEXT];
  g_assert_cmpstr(pawl_instant_text_short(next_or_never(golden, -1), text), ==, "1970-01-27T00:52:00Z");
}

static void test_shortest_gap(void) {
  static const struct {
    const char *expression;
    gint64 seconds;
  } rows[] = {{"* * * * *", 60}, {"*/7 * * * *", 240}, {"0 0,23 * * *", 3600}, {"59 23 * * *", 86400}, {"0 0 * * 1,5", 3 * 86400},
    {"0 0 1,31 * *", 86400}, {"0 0 1 * *", 28 * 86400}, {"0 0 29 2 *", 1461 * 86400}, {"0 0 30 2 *", 0}, {"* * * * * *", 1},
    {"10,50 0 0 * * *", 40}, {"50,5 59,0 * * * *", 15}, {"0 0 0 1 1 * 2030", 0}, {"0 0 0 1 1 * 2030,2032", 730 * 86400},
    {"0 0 12 1 1 * 2030", 0}, {"0,30 0 12 1 1 * 2030", 30}, {"0 0 0 31,1 12,1 * 2030-2032", 86400}, {"@every 90s", 90}, {"@reboot", 0},
    {"@monthly", 28 * 86400}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(PawlCron) cron = cron_of(rows[i].expression, "UTC");
    if (pawl_cron_shortest_gap_ms(cron) != rows[i].seconds * 1000)
      g_error("%s: %" G_GINT64_FORMAT " ms", rows[i].expression, pawl_cron_shortest_gap_ms(cron));
  }
}

static void test_text(void) {
  static const struct {
    const char *expression, *text;
  } rows[] = {{"  05 03\t* jan-MAR/1 Sun,fri#2,7L ", "5 3 * 1-3 0,5#2,0L"}, {"*/1 ? ? * ?", NULL}, {"0 0 ? * ?", "0 0 * * *"},
    {"@Annually", "@yearly"}, {"@MIDNIGHT", "@daily"}, {"@every 5400", "@every 1h30m"},
    {"TZ=Z 0 0 l-2,lw,03w * *", "CRON_TZ=UTC 0 0 L-2,LW,3W * *"}, {"h/1 h(1-3) H(1-9)/2 * 7-2", "H/1 H(1-3) H(1-9)/2 * 0-2"},
    {"0 0 * * 7/2", "0 0 * * 7/2"}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(PawlZone) utc = zone_of("UTC");
    g_autoptr(PawlCron) cron = pawl_cron_parse(rows[i].expression, PAWL_CRON_MINUTES, "", utc, NULL);
    g_assert_cmpint(cron != NULL, ==, rows[i].text != NULL);
    g_autofree char *text = cron ? pawl_cron_text(cron) : NULL;
    g_assert_cmpstr(text, ==, rows[i].text);
  }
}

static void test_text_is_stable(void) {
  for (gsize e = 0; e < G_N_ELEMENTS(pool); e++) {
    g_autoptr(PawlCron) cron = cron_of(pool[e], "Europe/Berlin");
    g_autofree char *text = pawl_cron_text(cron);
    g_autoptr(PawlCron) again = cron_of(text, "Europe/Berlin");
    g_autofree char *text_again = pawl_cron_text(again);
    g_assert_cmpstr(text, ==, text_again);
    gint64 a = 0, b = 0;
    for (int i = 0; i < 50 && a != NEVER; i++, a = next_or_never(cron, a), b = next_or_never(again, b)) g_assert_cmpint(a, ==, b);
  }
}

static void test_explain(void) {
  static const struct {
    const char *expression, *zone, *sentence;
  } rows[] = {{"30 2 * * *", "Europe/Berlin", "At 02:30, every day, in Europe/Berlin."},
    {"* * * * *", "UTC", "Every minute, every day, in UTC."},
    {"*/15 9-17 * * MON-FRI", "UTC", "Every 15 minutes of hours 9 to 17, on Monday to Friday, in UTC."},
    {"0 * * * *", "UTC", "At minute 0 of every hour, every day, in UTC."},
    {"0 */2 * * *", "UTC", "At minute 0 of every 2 hours, every day, in UTC."},
    {"*/7 * * * *", "UTC", "Every 7th minute from 0, every day, in UTC."},
    {"0 6,18 1,15 * *", "UTC", "At 06:00 and 18:00, on days 1 and 15, in UTC."},
    {"0 0 13 * 5", "UTC", "At 00:00, on day 13 or on Friday, in UTC."},
    {"0 0 */2 * 1", "UTC", "At 00:00, on every 2nd day from 1, but only on Monday, in UTC."},
    {"0 9 L-1,LW,3W 1-3 *", "UTC",
      "At 09:00, on the day before the last of the month, the last Monday-to-Friday day of the month and "
      "the Monday-to-Friday day nearest to day 3, "
      "in January to March, in UTC."},
    {"0 9 * * 2#2,5L", "UTC", "At 09:00, on the 2nd Tuesday of the month and the last Friday of the month, in UTC."},
    {"30 0 12 1 1 * 2030", "UTC", "At 12:00:30, on day 1, in January, in 2030, in UTC."},
    {"*/10 * * * * *", "UTC", "Every 10 seconds of every minute, every day, in UTC."},
    {"0 0 30 2 *", "UTC", "At 00:00, on day 30, in February, in UTC; there is no such day, so it never fires."},
    {"@weekly", "UTC", "At 00:00, on Sunday, in UTC."}, {"@every 1h30m", "UTC", "Every 1h30m, counted from the occurrence before."},
    {"@reboot", "UTC", "Once at each start of pawl on a single node."}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(PawlCron) cron = cron_of(rows[i].expression, rows[i].zone);
    g_autofree char *sentence = pawl_cron_explain(cron);
    g_assert_cmpstr(sentence, ==, rows[i].sentence);
  }
}

static void test_errors(void) {
  static const struct {
    PawlCronFields fields;
    const char *expression, *start;
  } rows[] = {{PAWL_CRON_MINUTES, "61 * * * *", "column 1: '61' in minute: it is out of range, 0 to 59"},
    {PAWL_CRON_MINUTES, "* * * * 1,x", "column 11: 'x' in day-of-week: this is no value; allowed are 0-7"},
    {PAWL_CRON_MINUTES, "\u0665 * * * *", "column 1: "}, {PAWL_CRON_MINUTES, "0 \u0665 61 * *", "column 3: "},
    {PAWL_CRON_MINUTES, "0 0 1W-5 * *", "column 7: "},
    {PAWL_CRON_MINUTES, "0 0 1-5W * *", "column 7: '5W' in day-of-month: W goes with a single day"},
    {PAWL_CRON_MINUTES, "0 0 * * L", "column 9: 'L' in day-of-week: L needs the weekday before it"},
    {PAWL_CRON_MINUTES, "L * * * *", "column 1: 'L' in minute: L is for days"},
    {PAWL_CRON_MINUTES, "? * * * *", "column 1: '?' in minute: ? is for day-of-month and day-of-week"},
    {PAWL_CRON_MINUTES, "0 0 * *", "column 8: 4 fields where five"},
    {PAWL_CRON_MINUTES, "0 0 0 * * *",
      "column 11: 6 fields where five (minute hour day-of-month month day-of-week) are meant; with seconds: true"},
    {PAWL_CRON_SECONDS, "0 0 * * *", "column 10: 5 fields where six"},
    {PAWL_CRON_SECONDS, "0 0 0 1 1 * 2030-2020", "column 18: '2020' in year: a range of years must ascend"},
    {PAWL_CRON_SECONDS, "0 0 0 1 1 * H", "column 13: 'H' in year: H cannot choose a year"},
    {PAWL_CRON_SECONDS, "0 0 0 1 1 * 2901", "column 13: '2901' in year: it is out of range, 1970 to 2900"},
    {PAWL_CRON_MINUTES, "H(5-2) * * * *", "column 1: 'H(5-2)' in minute: the bounds of H must ascend"},
    {PAWL_CRON_MINUTES, "H(5) * * * *", "column 1: "}, {PAWL_CRON_MINUTES, "@never", "column 1: no such nickname"},
    {PAWL_CRON_MINUTES, "@every 1500ms", "column 8: @every takes whole seconds"},
    {PAWL_CRON_MINUTES, "@every 1h 2m", "column 11: nothing may follow"},
    {PAWL_CRON_MINUTES, "TZ=Europe/Berln 0 0 * * *",
      "column 4: 'Europe/Berln' is no time zone: no such zone is known here; is 'Europe/Berlin' meant?"},
    {PAWL_CRON_MINUTES, "0 0 * * *\n", "column 10: "}, {PAWL_CRON_MINUTES, "\xff\xfe * * * *", "column 1: "}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(PawlZone) utc = zone_of("UTC");
    g_assert_null(pawl_cron_parse(rows[i].expression, rows[i].fields, NULL, utc, &error));
    g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    if (!g_str_has_prefix(error->message, rows[i].start)) g_error("%s: %s", rows[i].expression, error->message);
  }
}

static void test_length(void) {
  g_autofree char *blanks = g_strnfill(1024 - 9, ' '), *fits = g_strconcat("* * * * *", blanks, NULL),
                  *longer = g_strconcat(fits, " ", NULL);
  g_autoptr(PawlCron) cron = pawl_cron_parse(fits, PAWL_CRON_MINUTES, NULL, NULL, NULL);
  g_assert_nonnull(cron);
  g_assert_null(pawl_cron_parse(longer, PAWL_CRON_MINUTES, NULL, NULL, NULL));
}

static void test_warnings(void) {
  static const struct {
    const char *expression, *zone;
    guint n;
    const char *part;
  } rows[] = {{"30 4 * * *", "Europe/Berlin", 0, NULL}, {"30 2 * * *", "Asia/Tokyo", 0, NULL}, {"*/5 * * * *", "Europe/Berlin", 0, NULL},
    {"30 2 * * *", "Europe/Berlin", 2,
      "On 2026-03-29 in Europe/Berlin the times from 02:00 to 03:00 do not exist, and what falls into them fires once"},
    {"*/15 2 * * *", "Europe/Berlin", 2,
      "On 2026-03-29 in Europe/Berlin the times from 02:00 to 03:00 do not exist, and instants in them are skipped."},
    {"15 1 * * *", "America/New_York", 1,
      "On 2026-11-01 in America/New_York the times from 01:00 to 02:00 occur twice, and instants in them fire the first time only."},
    {"*/7 * * * *", "UTC", 1, "*/7 in minute is uneven: 60 is not a multiple of 7"},
    {"0 0 */2 * *", "UTC", 1, "*/2 in day-of-month is uneven: it starts anew each month."},
    {"*/90 * * * *", "UTC", 1, "*/90 in minute: the step is longer than the range"},
    {"0 0 30 2 *", "UTC", 1, "It never fires: there is no such day"}, {"0 0 0 1 1 * 2020", "UTC", 1, "It never fires again"},
    {"* 30 2 * * *", "UTC", 1, "The first of six fields is the second"}, {"@every 7m", "Europe/Berlin", 0, NULL}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(PawlCron) cron = cron_of(rows[i].expression, rows[i].zone);
    g_autoptr(GPtrArray) warnings = pawl_cron_warnings(cron, instant("2026-01-01T00:00:00Z"));
    if (warnings->len != rows[i].n) g_error("%s: %u warnings", rows[i].expression, warnings->len);
    if (rows[i].n > 0 && strstr(warnings->pdata[0], rows[i].part) == NULL)
      g_error("%s: %s", rows[i].expression, (char *)warnings->pdata[0]);
  }
}

/* What fires once by the rule loses nothing; what is skipped does. */
static void test_losses(void) {
  static const struct {
    const char *expression;
    guint n;
  } rows[] = {{"30 2 * * *", 0}, {"*/15 2 * * *", 1}, {"*/5 * * * *", 0}, {"*/7 4 * * *", 1}, {"0 0 30 2 *", 1}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(PawlCron) cron = cron_of(rows[i].expression, "Europe/Berlin");
    g_autoptr(GPtrArray) warnings = pawl_cron_warnings_of_loss(cron, instant("2026-01-01T00:00:00Z"));
    if (warnings->len != rows[i].n) g_error("%s: %u warnings", rows[i].expression, warnings->len);
  }
}

static gpointer use_cron(gpointer data) {
  PawlCron *cron = data;
  gint64 at_ms = 0;
  for (int i = 0; i < 5000; i++) at_ms = next_or_never(cron, at_ms);
  pawl_cron_unref(cron);
  return GSIZE_TO_POINTER((gsize)(at_ms / 1000));
}

static void test_threads(void) {
  GThread *threads[4];
  gpointer results[4];
  PawlCron *cron = cron_of("30 2 * * *", "Europe/Berlin");
  for (int i = 0; i < 4; i++) threads[i] = g_thread_new("cron", use_cron, pawl_cron_ref(cron));
  pawl_cron_unref(cron);
  for (int i = 0; i < 4; i++) results[i] = g_thread_join(threads[i]);
  for (int i = 1; i < 4; i++) g_assert_true(results[i] == results[0]);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/civil/cron/next-is-later-and-matches", test_next_is_later_and_matches);
  g_test_add_func("/civil/cron/matches-agrees-with-next", test_matches_agrees_with_next);
  g_test_add_func("/civil/cron/second-evaluator", test_second_evaluator);
  g_test_add_func("/civil/cron/minutes-of-change-days", test_minutes_of_change_days);
  g_test_add_func("/civil/cron/independent-of-tz", test_independent_of_tz);
  g_test_add_func("/civil/cron/edges-of-time", test_edges_of_time);
  g_test_add_func("/civil/cron/year-2900", test_year_2900);
  g_test_add_func("/civil/cron/hash", test_hash);
  g_test_add_func("/civil/cron/shortest-gap", test_shortest_gap);
  g_test_add_func("/civil/cron/text", test_text);
  g_test_add_func("/civil/cron/text-is-stable", test_text_is_stable);
  g_test_add_func("/civil/cron/explain", test_explain);
  g_test_add_func("/civil/cron/errors", test_errors);
  g_test_add_func("/civil/cron/length", test_length);
  g_test_add_func("/civil/cron/warnings", test_warnings);
  g_test_add_func("/civil/cron/losses", test_losses);
  g_test_add_func("/civil/cron/threads", test_threads);
  return g_test_run();
}
