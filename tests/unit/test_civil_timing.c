/* SPDX-License-Identifier: Apache-2.0 */
#include "test_civil.h"

static const gint64 T0 = G_GINT64_CONSTANT(1700000000000);

static void test_every_is_exact(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = 7 * PAWL_MINUTE_MS + 1, .offset_ms = 123};
  gint64 at_ms = T0, previous_ms;
  g_assert_true(pawl_timing_next(&timing, at_ms, &at_ms));
  g_assert_cmpint((at_ms - 123) % timing.every_ms, ==, 0);
  for (int i = 0; i < 1000; i++) {
    previous_ms = at_ms;
    g_assert_true(pawl_timing_next(&timing, at_ms, &at_ms));
    g_assert_cmpint(at_ms - previous_ms, ==, timing.every_ms);
  }
  g_assert_true(pawl_timing_next(&timing, at_ms - 1, &previous_ms));
  g_assert_cmpint(previous_ms, ==, at_ms);
  g_assert_cmpint(pawl_timing_shortest_gap_ms(&timing), ==, timing.every_ms);
}

static void test_every_edges(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = 1000};
  gint64 at_ms;
  g_assert_true(pawl_timing_next(&timing, -5000, &at_ms));
  g_assert_cmpint(at_ms, ==, 0);
  g_assert_true(pawl_timing_next(&timing, 0, &at_ms));
  g_assert_cmpint(at_ms, ==, 1000);
  timing.offset_ms = 5000; /* an offset longer than the interval moves the grid, not its beginning */
  g_assert_true(pawl_timing_next(&timing, -1, &at_ms));
  g_assert_cmpint(at_ms, ==, 0);
  g_assert_false(pawl_timing_next(&timing, PAWL_AT_MAX_MS, &at_ms));
  timing.every_ms = 0;
  g_assert_false(pawl_timing_next(&timing, 0, &at_ms));
}

static void test_window(void) {
  PawlTiming timing = {
    .kind = PAWL_TIMING_EVERY, .every_ms = PAWL_MINUTE_MS, .from_ms = 10 * PAWL_MINUTE_MS, .until_ms = 12 * PAWL_MINUTE_MS};
  gint64 at_ms;
  g_assert_true(pawl_timing_next(&timing, 0, &at_ms));
  g_assert_cmpint(at_ms, ==, 10 * PAWL_MINUTE_MS); /* from is inclusive */
  g_assert_true(pawl_timing_next(&timing, at_ms, &at_ms));
  g_assert_cmpint(at_ms, ==, 11 * PAWL_MINUTE_MS);
  g_assert_false(pawl_timing_next(&timing, at_ms, &at_ms)); /* until is exclusive */
  timing.until_ms++;
  g_assert_true(pawl_timing_next(&timing, at_ms, &at_ms));
  g_assert_cmpint(at_ms, ==, 12 * PAWL_MINUTE_MS);
  timing.until_ms = 11 * PAWL_MINUTE_MS;
  g_assert_cmpint(pawl_timing_shortest_gap_ms(&timing), ==, 0); /* one occurrence */
  timing.from_ms++;
  g_assert_false(pawl_timing_next(&timing, 0, &at_ms));
}

static void test_cron_window(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_CRON,
    .cron = cron_of("30 2 * * *", "Europe/Berlin"),
    .from_ms = instant("2026-03-28T01:30:00Z"),
    .until_ms = instant("2026-03-30T00:30:00Z")};
  gint64 at_ms;
  g_assert_true(pawl_timing_next(&timing, 0, &at_ms));
  g_assert_cmpint(at_ms, ==, timing.from_ms);
  g_assert_true(pawl_timing_next(&timing, at_ms, &at_ms));
  g_assert_cmpint(at_ms, ==, instant("2026-03-29T01:00:00Z"));
  g_assert_false(pawl_timing_next(&timing, at_ms, &at_ms));
  g_assert_cmpint(pawl_timing_shortest_gap_ms(&timing), ==, PAWL_DAY_MS);
  pawl_timing_clear(&timing);
  g_assert_null(timing.cron);
}

static void test_at(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_AT, .at_ms = T0 + 5};
  gint64 at_ms;
  g_assert_true(pawl_timing_next(&timing, T0 + 4, &at_ms));
  g_assert_cmpint(at_ms, ==, T0 + 5);
  g_assert_false(pawl_timing_next(&timing, T0 + 5, &at_ms));
  timing.until_ms = T0 + 5;
  g_assert_false(pawl_timing_next(&timing, 0, &at_ms));
  timing.until_ms = 0;
  timing.from_ms = T0 + 6;
  g_assert_false(pawl_timing_next(&timing, 0, &at_ms));
  g_assert_cmpint(pawl_timing_shortest_gap_ms(&timing), ==, 0);
}

static void test_reboot(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_REBOOT, .cron = cron_of("@reboot", "UTC")};
  gint64 at_ms;
  g_assert_true(pawl_cron_is_reboot(timing.cron));
  g_assert_false(pawl_timing_next(&timing, 0, &at_ms));
  g_assert_cmpint(pawl_timing_shortest_gap_ms(&timing), ==, 0);
  pawl_timing_clear(&timing);
}

static void test_jitter(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = PAWL_MINUTE_MS, .jitter_ms = 9};
  PawlId trigger = {{1, 2, 3}}, other = {{1, 2, 4}};
  int seen[10] = {0}, differ = 0;
  for (int i = 0; i < 10000; i++) {
    gint64 jitter_ms = pawl_timing_jitter(&timing, &trigger, T0 + i * PAWL_MINUTE_MS);
    g_assert_cmpint(jitter_ms, >=, 0);
    g_assert_cmpint(jitter_ms, <=, 9);
    g_assert_cmpint(jitter_ms, ==, pawl_timing_jitter(&timing, &trigger, T0 + i * PAWL_MINUTE_MS));
    differ += jitter_ms != pawl_timing_jitter(&timing, &other, T0 + i * PAWL_MINUTE_MS);
    seen[jitter_ms]++;
  }
  for (int i = 0; i < 10; i++) g_assert_cmpint(seen[i], >, 800); /* both ends included, spread evenly */
  g_assert_cmpint(differ, >, 8000);
  timing.jitter_ms = 30 * PAWL_MINUTE_MS; /* a golden value: the same on every machine and in every release */
  g_assert_cmpint(pawl_timing_jitter(&timing, &trigger, T0), ==, 942269);
  timing.jitter_ms = 0;
  g_assert_cmpint(pawl_timing_jitter(&timing, &trigger, T0), ==, 0);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/civil/timing/every-is-exact", test_every_is_exact);
  g_test_add_func("/civil/timing/every-edges", test_every_edges);
  g_test_add_func("/civil/timing/window", test_window);
  g_test_add_func("/civil/timing/cron-window", test_cron_window);
  g_test_add_func("/civil/timing/at", test_at);
  g_test_add_func("/civil/timing/reboot", test_reboot);
  g_test_add_func("/civil/timing/jitter", test_jitter);
  return g_test_run();
}
