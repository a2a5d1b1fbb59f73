/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the cron evaluator is, on one core: `bench_next [CRON_TSV]`. Prints one figure a line.
 *
 *   next_per_second      over a fixed mix of expressions and zones, each asked again from its own answer
 *   slowest_nasty_next_us, slowest_table_next_us
 *                        the slowest single answer among nasty expressions, and among the rows of CRON_TSV: each is the least of seven
 *                        measurements, so that an interrupt is not taken for slowness; then expression, zone and instant */
#include "base/clock.h"
#include "civil/civil.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define REPEATS 7

typedef struct {
  const char *expression, *zone;
} Entry;

static const Entry mix[] = {{"* * * * *", "UTC"}, {"*/5 * * * *", "Europe/Berlin"}, {"0 * * * *", "America/New_York"},
  {"30 2 * * *", "Europe/Berlin"}, {"0 9 * * 1-5", "Asia/Tokyo"}, {"0 0 1 * *", "America/Sao_Paulo"}, {"0 0 L * *", "Europe/London"},
  {"15,45 8-18 * * MON-FRI", "America/Los_Angeles"}, {"0 0 * * 1#1", "Australia/Sydney"}, {"*/10 * * * * *", "UTC"},
  {"H H * * *", "Europe/Paris"}, {"0 3 1W,15W * *", "Africa/Cairo"}};

static const Entry nasty[] = {{"0 0 30 2 *", "Europe/Berlin"}, {"0 0 29 2 1", "UTC"}, {"0 0 29 2 */7", "UTC"},
  {"0 0 31W 2 *", "Europe/Berlin"}, {"0 0 0 29 2 MON#5", "Europe/Berlin"}, {"0 0 * 2 1#5", "Australia/Lord_Howe"},
  {"30 2-2 8-14 3 */7", "America/New_York"}, {"30 2-2 25-31 3 */7", "Europe/Berlin"}, {"15 2-2 1-7 10 */7", "Australia/Lord_Howe"},
  {"30 0-0 * * 5#5", "Asia/Beirut"}, {"0 0 L-30 2 *", "Asia/Gaza"}, {"0 0 12 1 1 ? 2900", "Europe/Dublin"},
  {"0 0 12 1 1 ? 1970", "Europe/Dublin"}, {"30 30 2-2 8-14 3 */7 2899,2900", "America/New_York"},
  {"59 59 23 31 12 */7 2000-2900/7", "Pacific/Chatham"}, {"0 0 0 29 2 * 2100,2200,2300,2500", "UTC"}, {"30 2-2 30 12 *", "Pacific/Apia"},
  {"* * 31 2,4,6,9,11 *", "Africa/Casablanca"}, {"0 0 1W,31W 2 1#5", "America/St_Johns"}};

static gint64 now_ns(void) {
  struct timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return (gint64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static PawlCron *cron_of(const char *expression, PawlCronFields fields, const char *zone_name) {
  PawlZone *zone = zone_name ? pawl_zone_new(zone_name, NULL) : NULL;
  PawlCron *cron = pawl_cron_parse(expression, fields, "project/task/trigger", zone, NULL);
  pawl_zone_unref(zone);
  return cron;
}

static PawlCron *cron_of_entry(const Entry *entry) {
  g_auto(GStrv) words = g_strsplit(entry->expression, " ", -1);
  PawlCron *cron = cron_of(entry->expression, g_strv_length(words) > 5 ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES, entry->zone);
  if (cron == NULL) g_error("%s does not parse", entry->expression);
  return cron;
}

static double next_per_second(void) {
  const gint64 start_ms = G_GINT64_CONSTANT(1767225600000), rounds = 100000;
  PawlCron *crons[G_N_ELEMENTS(mix)];
  gint64 at_ms[G_N_ELEMENTS(mix)];
  for (gsize i = 0; i < G_N_ELEMENTS(mix); i++) crons[i] = cron_of_entry(&mix[i]);
  double best = 0;
  for (int repeat = 0; repeat < 3; repeat++) {
    for (gsize i = 0; i < G_N_ELEMENTS(mix); i++) at_ms[i] = start_ms;
    gint64 begin_ns = now_ns();
    for (gint64 round = 0; round < rounds; round++)
      for (gsize i = 0; i < G_N_ELEMENTS(mix); i++)
        if (at_ms[i] > start_ms + 10 * 365 * PAWL_DAY_MS || !pawl_cron_next(crons[i], at_ms[i], &at_ms[i])) at_ms[i] = start_ms;
    best = MAX(best, (double)(rounds * (gint64)G_N_ELEMENTS(mix)) * 1e9 / (double)(now_ns() - begin_ns));
  }
  for (gsize i = 0; i < G_N_ELEMENTS(mix); i++) pawl_cron_unref(crons[i]);
  return best;
}

typedef struct {
  gint64 ns;
  char *name;
} Slowest;

static void measure(const PawlCron *cron, const char *expression, gint64 after_ms, Slowest *slowest) {
  gint64 least_ns = G_MAXINT64, at_ms;
  for (int i = 0; i < REPEATS; i++) {
    gint64 begin_ns = now_ns();
    pawl_cron_next(cron, after_ms, &at_ms);
    least_ns = MIN(least_ns, now_ns() - begin_ns);
  }
  if (least_ns <= slowest->ns) return;
  g_free(slowest->name);
  slowest->name = g_strdup_printf("'%s' in %s after %" G_GINT64_FORMAT, expression, pawl_zone_name(pawl_cron_zone(cron)), after_ms);
  slowest->ns = least_ns;
}

/* From the beginning, from around now, and from late instants on, where rules and not the zone's file give the offsets. */
static void measure_at_many(const PawlCron *cron, const char *expression, Slowest *slowest) {
  static const gint64 years[] = {1970, 2026, 2037, 2038, 2100, 2399, 2500, 2890};
  for (gsize i = 0; i < G_N_ELEMENTS(years); i++) {
    gint64 after_ms = (gint64)((double)(years[i] - 1970) * 365.2425 * PAWL_DAY_MS), at_ms = after_ms;
    for (int k = 0; k < 4; k++) {
      measure(cron, expression, at_ms, slowest);
      if (!pawl_cron_next(cron, at_ms, &at_ms)) break;
    }
  }
}

static void measure_table(const char *path, Slowest *slowest) {
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) g_error("%s cannot be read", path);
  g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
  for (guint i = 1; lines[i] != NULL; i++) {
    g_auto(GStrv) columns = g_strsplit(lines[i], "\t", -1);
    g_autoptr(GString) expression = g_string_new(columns[2]);
    g_string_replace(expression, "\\t", "\t", 0);
    g_string_replace(expression, "\\s", " ", 0);
    PawlCronFields fields = columns[1][0] == '6' || columns[1][0] == '7' ? PAWL_CRON_SECONDS : PAWL_CRON_MINUTES;
    PawlCron *cron = cron_of(expression->str, fields, strcmp(columns[3], "-") == 0 ? NULL : columns[3]);
    if (cron == NULL) continue;
    gint64 after_ms;
    if (pawl_instant_parse(columns[4], &after_ms, NULL)) measure(cron, expression->str, after_ms, slowest);
    measure_at_many(cron, expression->str, slowest);
    pawl_cron_unref(cron);
  }
}

int main(int argc, char **argv) {
  Slowest slowest = {0, NULL};
  printf("next_per_second %.0f\n", next_per_second());
  for (gsize i = 0; i < G_N_ELEMENTS(nasty); i++) {
    PawlCron *cron = cron_of_entry(&nasty[i]);
    measure_at_many(cron, nasty[i].expression, &slowest);
    pawl_cron_unref(cron);
  }
  printf("slowest_nasty_next_us %.1f %s\n", (double)slowest.ns / 1000, slowest.name);
  if (argc > 1) {
    Slowest of_table = {0, NULL};
    measure_table(argv[1], &of_table);
    printf("slowest_table_next_us %.1f %s\n", (double)of_table.ns / 1000, of_table.name);
    g_free(of_table.name);
  }
  g_free(slowest.name);
  return 0;
}
