/* SPDX-License-Identifier: Apache-2.0 */
/* The misfire decision: golden cases, and against a slow second opinion. Times in the cases are seconds after T0, and occurrences come once
 * a minute unless a case says otherwise. */
#include "test_civil.h"

#define T0 G_GINT64_CONSTANT(1700000040000) /* a whole minute */
#define ONCE PAWL_MISFIRE_FIRE_ONCE
#define SKIP PAWL_MISFIRE_SKIP
#define ALL PAWL_MISFIRE_FIRE_ALL

static const PawlId trigger = {{0x42, 7}};

typedef struct {
  const char *name;
  PawlMisfire misfire;
  gint64 limit, grace_s; /* grace_s -1: the default */
  gint64 every_s, until_s, jitter_s;
  gint64 cursor_s, now_s, claimed_s, made_up; /* claimed_s 0: none */
  const char *expected;
} Case;

static const Case cases[] = {
  {"on-time/once", ONCE, 0, -1, 60, 0, 0, 0, 3, 0, 0, "admit 0 next 60"},
  {"on-time/skip", SKIP, 0, -1, 60, 0, 0, 0, 3, 0, 0, "admit 0 next 60"},
  {"on-time/all", ALL, 5, -1, 60, 0, 0, 0, 3, 0, 0, "admit 0 next 60"},
  {"on-time/at-the-instant", SKIP, 0, 0, 60, 0, 0, 0, 0, 0, 0, "admit 0 next 60"},
  {"not-due", ONCE, 0, -1, 60, 0, 0, 60, 59, 0, 0, "next 60"},
  {"grace/last-instant", SKIP, 0, 10, 60, 0, 0, 0, 10, 0, 0, "admit 0 next 60"},
  {"grace/past", SKIP, 0, 10, 60, 0, 0, 0, 11, 0, 0, "skipped 0-0 x1 next 60"},
  {"grace/default-is-the-gap", SKIP, 0, -1, 60, 0, 0, 0, 60, 0, 0, "admit 0,60 next 120"},
  {"grace/default-past-the-gap", SKIP, 0, -1, 60, 0, 0, 0, 61, 0, 0, "admit 60 skipped 0-0 x1 next 120"},
  {"grace/default-at-most-5-min", SKIP, 0, -1, 3600, 0, 0, 360, 660, 0, 0, "admit 360 next 3960"},
  {"grace/default-past-5-min", SKIP, 0, -1, 3600, 0, 0, 360, 661, 0, 0, "skipped 360-360 x1 next 3960"},
  {"late/once", ONCE, 0, 5, 60, 0, 0, 0, 30, 0, 0, "admit 0 next 60"},
  {"late/skip", SKIP, 0, 5, 60, 0, 0, 0, 30, 0, 0, "skipped 0-0 x1 next 60"},
  {"late/all", ALL, 5, 5, 60, 0, 0, 0, 30, 0, 0, "admit 0 next 60"},
  {"late/all-over-limit", ALL, 0, 5, 60, 0, 0, 0, 30, 0, 0, "over 0-0 x1 next 60"},
  {"absence/once-newest", ONCE, 0, 5, 60, 0, 0, 0, 290, 0, 0, "admit 240 coalesced 0-180 x4 next 300"},
  {"absence/once-on-time-stands-for-all", ONCE, 0, 5, 60, 0, 0, 0, 242, 0, 0, "admit 240 coalesced 0-180 x4 next 300"},
  {"absence/once-two-on-time", ONCE, 0, 70, 60, 0, 0, 0, 242, 0, 0, "admit 180,240 coalesced 0-120 x3 next 300"},
  {"absence/skip", SKIP, 0, 5, 60, 0, 0, 0, 290, 0, 0, "skipped 0-240 x5 next 300"},
  {"absence/skip-mixed", SKIP, 0, 5, 60, 0, 0, 0, 242, 0, 0, "admit 240 skipped 0-180 x4 next 300"},
  {"absence/all", ALL, 9, 5, 60, 0, 0, 0, 290, 0, 0, "admit 0,60,120,180,240 next 300"},
  {"absence/all-limit", ALL, 2, 5, 60, 0, 0, 0, 290, 0, 0, "admit 0,60 over 120-240 x3 next 300"},
  {"absence/all-limit-mixed", ALL, 2, 5, 60, 0, 0, 0, 242, 0, 0, "admit 0,60,240 over 120-180 x2 next 300"},
  {"absence/all-made-up-before", ALL, 3, 5, 60, 0, 0, 0, 290, 0, 2, "admit 0 over 60-240 x4 next 300"},
  {"claimed/in-time", SKIP, 0, 5, 60, 0, 0, 0, 40, 4, 0, "admit 0 next 60"},
  {"claimed/late", SKIP, 0, 5, 60, 0, 0, 0, 40, 6, 0, "skipped 0-0 x1 next 60"},
  {"claimed/only-the-first", SKIP, 0, 5, 60, 0, 0, 0, 100, 4, 0, "admit 0 skipped 60-60 x1 next 120"},
  {"claimed/once-newest-too", ONCE, 0, 5, 60, 0, 0, 0, 190, 4, 0, "admit 0,180 coalesced 60-120 x2 next 240"},
  {"until/exhausted", ONCE, 0, 5, 60, 60, 0, 0, 3, 0, 0, "admit 0 exhausted"},
  {"until/exhausted-late", SKIP, 0, 5, 60, 180, 0, 0, 9999, 0, 0, "skipped 0-120 x3 exhausted"},
  {"until/once", ONCE, 0, 5, 60, 180, 0, 0, 9999, 0, 0, "admit 120 coalesced 0-60 x2 exhausted"},
  {"until/grace-without-next", SKIP, 0, -1, 60, 60, 0, 0, 300, 0, 0, "admit 0 exhausted"},
  {"until/grace-without-next-past", SKIP, 0, -1, 60, 60, 0, 0, 301, 0, 0, "skipped 0-0 x1 exhausted"},
  {"at/on-time", ONCE, 0, -1, 0, 0, 0, 17, 300 + 17, 0, 0, "admit 17 exhausted"},
  {"at/late-once", ONCE, 0, -1, 0, 0, 0, 17, 400, 0, 0, "admit 17 exhausted"},
  {"at/late-skip", SKIP, 0, -1, 0, 0, 0, 17, 400, 0, 0, "skipped 17-17 x1 exhausted"},
};

static char *render(const PawlDecision *decision) {
  static const char *const outcomes[] = {"skipped", "coalesced", "over"};
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < decision->n_admit; i++)
    g_string_append_printf(out, "%s%" G_GINT64_FORMAT, i == 0 ? "admit " : ",", (decision->admit_ms[i] - T0) / 1000);
  for (guint i = 0; i < decision->n_ranges; i++) {
    const PawlSettledRange *r = &decision->ranges[i];
    g_string_append_printf(out, "%s%s %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " x%" G_GINT64_FORMAT, out->len ? " " : "",
      outcomes[r->outcome], (r->from_ms - T0) / 1000, (r->to_ms - T0) / 1000, r->count);
  }
  g_string_append(out, out->len ? " " : "");
  if (decision->has_next)
    g_string_append_printf(out, "next %" G_GINT64_FORMAT, (decision->next_ms - T0) / 1000);
  else
    g_string_append(out, "exhausted");
  return g_string_free(out, FALSE);
}

static PawlTiming timing_of(const Case *c) {
  if (c->every_s == 0) return (PawlTiming){.kind = PAWL_TIMING_AT, .at_ms = T0 + c->cursor_s * 1000};
  return (PawlTiming){.kind = PAWL_TIMING_EVERY,
    .every_ms = c->every_s * 1000,
    .offset_ms = (T0 + c->cursor_s * 1000) % (c->every_s * 1000),
    .until_ms = c->until_s ? T0 + c->until_s * 1000 : 0,
    .jitter_ms = c->jitter_s * 1000};
}

static void test_case(gconstpointer data) {
  const Case *c = data;
  PawlTiming timing = timing_of(c);
  PawlMisfireRule rule = {c->misfire, c->limit, c->grace_s < 0 ? -1 : c->grace_s * 1000};
  PawlDecideInput input = {T0 + c->cursor_s * 1000, T0 + c->now_s * 1000, c->claimed_s ? T0 + c->claimed_s * 1000 : 0, c->made_up};
  PawlDecision decision;
  pawl_decide(&timing, &trigger, &rule, &input, &decision);
  g_autofree char *got = render(&decision);
  g_assert_cmpstr(got, ==, c->expected);
  g_assert_cmpint(decision.made_up, ==, 0); /* each of these cases is settled in one round */
  pawl_decision_clear(&decision);
  g_assert_null(decision.admit_ms);
}

static PawlDecision decide(PawlMisfire misfire, gint64 limit, gint64 grace_ms, gint64 cursor_s, gint64 now_s, gint64 made_up) {
  PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = PAWL_MINUTE_MS};
  PawlMisfireRule rule = {misfire, limit, grace_ms};
  PawlDecideInput input = {T0 + cursor_s * 1000, T0 + now_s * 1000, 0, made_up};
  PawlDecision decision;
  pawl_decide(&timing, &trigger, &rule, &input, &decision);
  return decision;
}

static void expect(PawlDecision decision, gint64 made_up, const char *expected) {
  g_autofree char *got = render(&decision);
  g_assert_cmpstr(got, ==, expected);
  g_assert_cmpint(decision.made_up, ==, made_up);
  pawl_decision_clear(&decision);
}

/* 25,000 missed minutes: rounds of 10,000, and only the last one admits. */
static void test_long_absence_once(void) {
  gint64 now_s = 25000 * 60 - 10;
  expect(decide(ONCE, 0, 5000, 0, now_s, 0), 0, "coalesced 0-599940 x10000 next 600000");
  expect(decide(ONCE, 0, 5000, 600000, now_s, 0), 0, "coalesced 600000-1199940 x10000 next 1200000");
  expect(decide(ONCE, 0, 5000, 1200000, now_s, 0), 0, "admit 1499940 coalesced 1200000-1499880 x4999 next 1500000");
}

/* The walk ends exactly with the newest: it is admitted. One more, and the one that is left is. */
static void test_absence_of_the_walk_once(void) {
  expect(decide(ONCE, 0, 5000, 0, 10000 * 60 - 10, 0), 0, "admit 599940 coalesced 0-599880 x9999 next 600000");
  expect(decide(ONCE, 0, 5000, 0, 10001 * 60 - 10, 0), 0, "coalesced 0-599940 x10000 next 600000");
  expect(decide(ONCE, 0, 5000, 600000, 10001 * 60 - 10, 0), 0, "admit 600000 next 600060");
}

static void test_long_absence_skip(void) {
  gint64 now_s = 12345 * 60;
  expect(decide(SKIP, 0, 5000, 0, now_s, 0), 0, "skipped 0-599940 x10000 next 600000");
  expect(decide(SKIP, 0, 5000, 600000, now_s, 0), 0, "admit 740700 skipped 600000-740640 x2345 next 740760");
}

/* 250 of 300 are made up, in rounds of 100, and what is over the limit goes with the last. */
static void test_long_absence_all(void) {
  gint64 cursor_s = 0, made_up = 0, now_s = 300 * 60 - 10;
  for (int round = 1; round <= 3; round++) {
    PawlDecision decision = decide(ALL, 250, 5000, cursor_s, now_s, made_up);
    g_assert_cmpuint(decision.n_admit, ==, round < 3 ? 100 : 50);
    g_assert_cmpint(decision.admit_ms[0], ==, T0 + cursor_s * 1000);
    g_assert_cmpint(decision.made_up, ==, round < 3 ? 100 * round : 0);
    g_assert_cmpuint(decision.n_ranges, ==, round == 3);
    if (round == 3) g_assert_cmpint(decision.ranges[0].count, ==, 50);
    cursor_s = (decision.next_ms - T0) / 1000;
    made_up = decision.made_up;
    pawl_decision_clear(&decision);
  }
  g_assert_cmpint(cursor_s, ==, 300 * 60);
}

static void test_long_absence_all_over_limit(void) {
  PawlDecision decision = decide(ALL, 100, 5000, 0, 10050 * 60 - 10, 0);
  g_assert_cmpuint(decision.n_admit, ==, 100);
  g_assert_cmpint(decision.ranges[0].count, ==, 9900);
  g_assert_cmpint(decision.made_up, ==, 100); /* fifty missed ones are left, none of which is made up */
  g_assert_cmpint(decision.next_ms, ==, T0 + 600000 * 1000);
  pawl_decision_clear(&decision);
  expect(decide(ALL, 100, 5000, 600000, 10050 * 60 - 10, 100), 0, "over 600000-602940 x50 next 603000");
}

/* 250 within the grace are all on time, whatever the rule, and come in rounds. */
static void test_many_on_time(void) {
  for (int misfire = ONCE; misfire <= ALL; misfire++) {
    gint64 cursor_s = 0, total = 0;
    for (int round = 0; round < 3; round++) {
      PawlDecision decision = decide((PawlMisfire)misfire, 0, PAWL_DAY_MS, cursor_s, 250 * 60 - 10, 0);
      g_assert_cmpuint(decision.n_ranges, ==, 0);
      g_assert_cmpint(decision.made_up, ==, 0);
      total += decision.n_admit;
      cursor_s = (decision.next_ms - T0) / 1000;
      pawl_decision_clear(&decision);
    }
    g_assert_cmpint(total, ==, 250);
    g_assert_cmpint(cursor_s, ==, 250 * 60);
  }
}

static void test_jitter(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = PAWL_MINUTE_MS, .jitter_ms = 50 * PAWL_SECOND_MS};
  PawlMisfireRule rule = {SKIP, 0, 5000};
  gint64 due_ms = T0 + pawl_timing_jitter(&timing, &trigger, T0);
  g_assert_cmpint(due_ms, >, T0 + 1); /* else the case shows nothing */
  static const struct {
    gint64 after_due_ms;
    const char *expected;
  } rows[] = {{-1, "next 0"}, {0, "admit 0 next 60"}, {5000, "admit 0 next 60"}, {5001, "skipped 0-0 x1 next 60"}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    PawlDecideInput input = {T0, due_ms + rows[i].after_due_ms, 0, 0};
    PawlDecision decision;
    pawl_decide(&timing, &trigger, &rule, &input, &decision);
    expect(decision, 0, rows[i].expected);
  }
}

/* The second opinion: rounds until nothing is due, then each occurrence by itself. Fates: a for admitted, else the first letter of its
 * range. */

static void run_rounds(const PawlTiming *timing, const PawlMisfireRule *rule, gint64 first_ms, gint64 now_ms, char *fates, gint64 n) {
  gint64 cursor_ms = first_ms, made_up = 0;
  for (int round = 0; round < 1000; round++) {
    PawlDecideInput input = {cursor_ms, now_ms, 0, made_up};
    PawlDecision decision;
    gint64 settled = 0, before_ms = cursor_ms, step_ms = timing->every_ms;
    pawl_decide(timing, &trigger, rule, &input, &decision);
    for (guint i = 0; i < decision.n_admit; i++, settled++) fates[(decision.admit_ms[i] - first_ms) / step_ms] = 'a';
    for (guint i = 0; i < decision.n_ranges; i++) {
      settled += decision.ranges[i].count;
      for (gint64 at_ms = decision.ranges[i].from_ms; at_ms <= decision.ranges[i].to_ms; at_ms += step_ms)
        if (fates[(at_ms - first_ms) / step_ms] == 0) fates[(at_ms - first_ms) / step_ms] = "sco"[decision.ranges[i].outcome];
    }
    g_assert_true(decision.has_next);
    g_assert_cmpint(settled, <=, PAWL_DECIDE_WALK_MAX);
    g_assert_cmpint(decision.next_ms - before_ms, ==, settled * step_ms); /* nothing is passed over, nothing settled twice */
    cursor_ms = decision.next_ms;
    made_up = decision.made_up;
    pawl_decision_clear(&decision);
    if (settled == 0) break;
  }
  g_assert_cmpint((cursor_ms - first_ms) / timing->every_ms, ==, n);
}

static void test_second_opinion(void) {
  guint64 seed = 0x5eed0001;
  for (int i = 0; i < 300; i++) {
    PawlTiming timing = {.kind = PAWL_TIMING_EVERY, .every_ms = 1000 * (1 + random_below(&seed, 100))};
    timing.jitter_ms = random_below(&seed, 2) ? random_below(&seed, timing.every_ms) : 0;
    PawlMisfireRule rule = {
      (PawlMisfire)random_below(&seed, 3), random_below(&seed, 400), random_below(&seed, 2) ? random_below(&seed, 900000) : -1};
    gint64 first_ms, last_due = -1, n = 0, made_up = 0, now_ms = T0 + random_below(&seed, i % 10 == 0 ? 15000000 : 900000);
    g_assert_true(pawl_timing_next(&timing, T0 - 1, &first_ms));
    while (first_ms + n * timing.every_ms + pawl_timing_jitter(&timing, &trigger, first_ms + n * timing.every_ms) <= now_ms) n++;
    g_autofree char *fates = g_new0(char, n + 1);
    run_rounds(&timing, &rule, first_ms, now_ms, fates, n);
    last_due = n - 1;
    for (gint64 k = 0; k < n; k++) {
      gint64 at_ms = first_ms + k * timing.every_ms,
             grace_ms = rule.grace_ms < 0 ? MIN(timing.every_ms, 5 * PAWL_MINUTE_MS) : rule.grace_ms;
      gboolean late = now_ms - at_ms - pawl_timing_jitter(&timing, &trigger, at_ms) > grace_ms;
      char expected = 'a';
      if (late && rule.misfire == SKIP) expected = 's';
      if (late && rule.misfire == ONCE) expected = k == last_due ? 'a' : 'c';
      if (late && rule.misfire == ALL) expected = made_up++ < rule.misfire_limit ? 'a' : 'o';
      if (fates[k] != expected) g_error("case %d, occurrence %" G_GINT64_FORMAT ": %c, not %c", i, k, fates[k], expected);
    }
  }
}

/* A cron trigger over a spring gap: the made-up instant is one like the others. */
static void test_cron(void) {
  PawlTiming timing = {.kind = PAWL_TIMING_CRON, .cron = cron_of("30 2 * * *", "Europe/Berlin")};
  PawlMisfireRule rule = {ALL, 10, -1};
  PawlDecideInput input = {instant("2026-03-28T01:30:00Z"), instant("2026-03-30T12:00:00Z"), 0, 0};
  PawlDecision decision;
  pawl_decide(&timing, &trigger, &rule, &input, &decision);
  g_assert_cmpuint(decision.n_admit, ==, 3);
  g_assert_cmpint(decision.admit_ms[1], ==, instant("2026-03-29T01:00:00Z"));
  g_assert_cmpint(decision.next_ms, ==, instant("2026-03-31T00:30:00Z"));
  pawl_decision_clear(&decision);
  pawl_timing_clear(&timing);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/civil/decide/case/", cases[i].name, NULL);
    g_test_add_data_func(path, &cases[i], test_case);
  }
  g_test_add_func("/civil/decide/long-absence-once", test_long_absence_once);
  g_test_add_func("/civil/decide/absence-of-the-walk-once", test_absence_of_the_walk_once);
  g_test_add_func("/civil/decide/long-absence-skip", test_long_absence_skip);
  g_test_add_func("/civil/decide/long-absence-all", test_long_absence_all);
  g_test_add_func("/civil/decide/long-absence-all-over-limit", test_long_absence_all_over_limit);
  g_test_add_func("/civil/decide/many-on-time", test_many_on_time);
  g_test_add_func("/civil/decide/jitter", test_jitter);
  g_test_add_func("/civil/decide/second-opinion", test_second_opinion);
  g_test_add_func("/civil/decide/cron", test_cron);
  return g_test_run();
}
