/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's table is well-formed, complete, and what cases/machine.txt says; the rules of retry, overlap and order. */
#include "base/clock.h"
#include "test_domain.h"

static const PawlTransition *rows;
static gsize n_rows;

static void test_rows_are_unique(void) {
  for (gsize i = 0; i < n_rows; i++) {
    g_assert_cmpint(rows[i].row, ==, (gint)i + 1); /* in order, without gaps: a new row comes last */
    g_assert_cmpstr(rows[i].why, !=, "");
    for (gsize j = 0; j < i; j++)
      g_assert_false(rows[i].from == rows[j].from && rows[i].event == rows[j].event && rows[i].retry_left == rows[j].retry_left);
  }
}

/* Where a granted retry has a row, the other answer has one too, and only a granted retry makes another attempt. */
static void test_guards_come_in_pairs(void) {
  for (gsize i = 0; i < n_rows; i++) {
    const PawlTransition *other = pawl_machine_find(rows[i].from, rows[i].event, !rows[i].retry_left);
    g_assert_true(pawl_machine_find(rows[i].from, rows[i].event, rows[i].retry_left) == &rows[i]);
    g_assert_nonnull(other);
    g_assert_cmpint(rows[i].retry_left, ==, rows[i].next_attempt);
    g_assert_cmpint(rows[i].next_attempt, ==, rows[i].run == PAWL_RUN_RETRY_WAIT);
    if (rows[i].retry_left) g_assert_true(!other->retry_left && other->to == rows[i].to);
  }
}

static gboolean is_attempt_end(PawlAttemptState state) { return state >= PAWL_ATTEMPT_SUCCEEDED && state <= PAWL_ATTEMPT_LOST; }

static void test_ends_are_ends(void) {
  for (gsize i = 0; i < n_rows; i++) {
    g_assert_false(is_attempt_end(rows[i].from));
    g_assert_cmpint(rows[i].to, !=, PAWL_ATTEMPT_NONE);
    /* a run ends exactly when its attempt does and no other follows */
    g_assert_cmpint(pawl_run_state_is_end(rows[i].run), ==, is_attempt_end(rows[i].to) && !rows[i].next_attempt);
  }
}

static void test_all_is_reachable(void) {
  gboolean attempts[PAWL_ATTEMPT_NONE + 1] = {FALSE}, runs[PAWL_RUN_TIMED_OUT + 1] = {FALSE};
  gboolean grew = TRUE;
  for (attempts[PAWL_ATTEMPT_NONE] = TRUE; grew;) {
    grew = FALSE;
    for (gsize i = 0; i < n_rows; i++) {
      if (!attempts[rows[i].from]) continue;
      grew |= !attempts[rows[i].to] || !runs[rows[i].run];
      attempts[rows[i].to] = runs[rows[i].run] = TRUE;
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS(attempts); i++) g_assert_true(attempts[i]);
  for (gsize i = 0; i < G_N_ELEMENTS(runs); i++) g_assert_true(runs[i]);
}

static void test_all_can_end(void) {
  gboolean ends[PAWL_ATTEMPT_NONE + 1], grew = TRUE;
  for (int i = 0; i <= PAWL_ATTEMPT_NONE; i++) ends[i] = is_attempt_end((PawlAttemptState)i);
  while (grew) {
    grew = FALSE;
    for (gsize i = 0; i < n_rows; i++)
      if (ends[rows[i].to] && !ends[rows[i].from]) ends[rows[i].from] = grew = TRUE;
  }
  for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) g_assert_true(ends[i]);
}

/* Whatever waits can be cancelled, and whatever a worker holds can be lost. */
static void test_cancel_and_loss_are_always_legal(void) {
  for (int i = PAWL_ATTEMPT_WAITING; i <= PAWL_ATTEMPT_RUNNING; i++) {
    g_assert_nonnull(pawl_machine_find((PawlAttemptState)i, PAWL_EVENT_CANCEL, FALSE));
    g_assert_cmpint(pawl_machine_find((PawlAttemptState)i, PAWL_EVENT_LOSE, FALSE) != NULL, ==, i != PAWL_ATTEMPT_WAITING);
  }
  g_assert_null(pawl_machine_find(PAWL_ATTEMPT_SUCCEEDED, PAWL_EVENT_FAIL, TRUE));
  g_assert_null(pawl_machine_find(PAWL_ATTEMPT_WAITING, PAWL_EVENT_START, FALSE));
}

static void test_golden(void) {
  g_autoptr(GString) out = g_string_new("# row, attempt, event, guard -> attempt, run, another attempt: why\n");
  for (gsize i = 0; i < n_rows; i++)
    g_string_append_printf(out, "%2d %s %s %s -> %s %s %s: %s\n", rows[i].row, pawl_attempt_state_name(rows[i].from),
      pawl_machine_event_name(rows[i].event), rows[i].retry_left ? "retry" : "-", pawl_attempt_state_name(rows[i].to),
      pawl_run_state_name(rows[i].run), rows[i].next_attempt ? "next" : "-", rows[i].why);
  check_golden(PAWL_TEST_CASES "/machine.txt", out->str);
}

static void test_names(void) {
  for (int i = 0; i <= PAWL_RUN_TIMED_OUT; i++) {
    PawlRunState state = PAWL_RUN_SCHEDULED;
    g_assert_true(pawl_run_state_parse(pawl_run_state_name((PawlRunState)i), &state));
    g_assert_cmpint(state, ==, i);
    g_assert_cmpint(pawl_run_state_is_end((PawlRunState)i), ==, i >= PAWL_RUN_SUCCEEDED);
  }
  for (int i = 0; i <= PAWL_ATTEMPT_NONE; i++) {
    PawlAttemptState state = PAWL_ATTEMPT_WAITING;
    g_assert_true(pawl_attempt_state_parse(pawl_attempt_state_name((PawlAttemptState)i), &state));
    g_assert_cmpint(state, ==, i);
  }
  PawlRunState run = PAWL_RUN_FAILED;
  g_assert_false(pawl_run_state_parse("Failed", &run));
  g_assert_cmpint(run, ==, PAWL_RUN_FAILED);
}

/* ---- rules ---- */

static void test_retry(void) {
  static const struct {
    gint attempts;
    guint when;
    gboolean later;
    gint attempt, laters;
    PawlMachineEvent event;
    gint64 wait_ms; /* -1: no */
  } cases[] = {
    {1, 7, FALSE, 1, 0, PAWL_EVENT_FAIL, -1}, {3, 7, FALSE, 1, 0, PAWL_EVENT_FAIL, 1000}, {3, 7, FALSE, 2, 0, PAWL_EVENT_FAIL, 2000},
    {3, 7, FALSE, 3, 0, PAWL_EVENT_FAIL, -1}, {9, 7, FALSE, 4, 0, PAWL_EVENT_TIME_OUT, 8000},
    {9, 7, FALSE, 5, 0, PAWL_EVENT_LOSE, 10000}, /* the maximum */
    {1000, 7, FALSE, 999, 0, PAWL_EVENT_LOSE, 10000}, {3, PAWL_RETRY_TIMED_OUT, FALSE, 1, 0, PAWL_EVENT_FAIL, -1},
    {3, PAWL_RETRY_TIMED_OUT, FALSE, 1, 0, PAWL_EVENT_TIME_OUT, 1000}, {3, PAWL_RETRY_FAILED, FALSE, 1, 0, PAWL_EVENT_LOSE, -1},
    {3, 7, FALSE, 1, 0, PAWL_EVENT_CANCEL, -1}, {3, 7, FALSE, 1, 0, PAWL_EVENT_SUCCEED, -1}, {1, 7, TRUE, 1, 0, PAWL_EVENT_LATER, 1000},
    {1, 7, TRUE, 100, 99, PAWL_EVENT_LATER, 10000}, {1, 7, TRUE, 101, 100, PAWL_EVENT_LATER, -1}, /* often enough: a failure */
    {2, 7, TRUE, 101, 100, PAWL_EVENT_LATER, 1000},
    {2, 7, TRUE, 6, 5, PAWL_EVENT_FAIL, 1000}, /* what was put off did not use up attempts */
    {2, 7, TRUE, 7, 5, PAWL_EVENT_FAIL, -1},
    {1, 7, FALSE, 1, 0, PAWL_EVENT_LATER, -1}, /* 75 is any other code where the task does not say so */
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
    PawlTaskSpec spec = {.retry_attempts = cases[i].attempts,
      .retry_when = cases[i].when,
      .retry_later = cases[i].later,
      .retry_backoff_ms = 1000,
      .retry_max_backoff_ms = 10000};
    for (guint8 r = 0; r < 50; r++) {
      const PawlId run = {{1, 2, 3, r}};
      gint64 wait_ms = -1, again_ms = -1;
      gboolean granted = pawl_retry_rule(&spec, &run, cases[i].attempt, cases[i].laters, cases[i].event, &wait_ms);
      g_test_message("case %d: %" G_GINT64_FORMAT, (int)i, wait_ms);
      g_assert_cmpint(granted, ==, cases[i].wait_ms >= 0);
      if (!granted)
        g_assert_cmpint(wait_ms, ==, -1);
      else
        g_assert_true(wait_ms >= cases[i].wait_ms * 8 / 10 && wait_ms <= cases[i].wait_ms * 12 / 10);
      pawl_retry_rule(&spec, &run, cases[i].attempt, cases[i].laters, cases[i].event, &again_ms);
      g_assert_cmpint(wait_ms, ==, again_ms);
    }
  }
}

static void test_retry_spreads(void) {
  PawlTaskSpec spec = {.retry_attempts = 2, .retry_when = 7, .retry_backoff_ms = 100000, .retry_max_backoff_ms = 100000};
  gint low = 0, high = 0;
  for (guint i = 0; i < 1000; i++) {
    PawlId run = PAWL_ID_NONE;
    gint64 wait_ms;
    run.b[14] = (guint8)(i >> 8), run.b[15] = (guint8)i;
    g_assert_true(pawl_retry_rule(&spec, &run, 1, 0, PAWL_EVENT_FAIL, &wait_ms));
    low += wait_ms<90000, high += wait_ms> 110000;
  }
  g_assert_true(low > 150 && low < 350 && high > 150 && high < 350); /* a quarter each */
}

static void test_overlap(void) {
  static const struct {
    PawlOverlap overlap;
    gint queue, active, waiting;
    PawlOverlapVerdict verdict;
  } cases[] = {
    {PAWL_OVERLAP_SKIP, 0, 0, 0, PAWL_OVERLAP_DO_ADMIT},
    {PAWL_OVERLAP_SKIP, 0, 1, 0, PAWL_OVERLAP_DO_LEDGER},
    {PAWL_OVERLAP_SKIP, 0, 0, 1, PAWL_OVERLAP_DO_LEDGER},
    {PAWL_OVERLAP_ALLOW, 0, 9, 9, PAWL_OVERLAP_DO_ADMIT},
    {PAWL_OVERLAP_QUEUE, 2, 1, 0, PAWL_OVERLAP_DO_ADMIT},
    {PAWL_OVERLAP_QUEUE, 2, 1, 1, PAWL_OVERLAP_DO_ADMIT},
    {PAWL_OVERLAP_QUEUE, 2, 1, 2, PAWL_OVERLAP_DO_LEDGER},
    {PAWL_OVERLAP_QUEUE, 2, 0, 3, PAWL_OVERLAP_DO_LEDGER},
    {PAWL_OVERLAP_REPLACE, 0, 0, 0, PAWL_OVERLAP_DO_ADMIT},
    {PAWL_OVERLAP_REPLACE, 0, 1, 0, PAWL_OVERLAP_DO_REPLACE},
    {PAWL_OVERLAP_REPLACE, 0, 0, 1, PAWL_OVERLAP_DO_REPLACE},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpint(pawl_overlap_rule(cases[i].overlap, cases[i].queue, cases[i].active, cases[i].waiting), ==, cases[i].verdict);
}

static void test_order(void) {
  g_assert_cmpint(pawl_order_key(1000000, 0), ==, 1000000);
  g_assert_cmpint(pawl_order_key(1000000, 1), ==, 990000); /* one step is 10 s of age */
  g_assert_cmpint(pawl_order_key(0, PAWL_PRIORITY_MIN), ==, 10000000);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  rows = pawl_machine_table(&n_rows);
  g_test_add_func("/domain/machine/rows", test_rows_are_unique);
  g_test_add_func("/domain/machine/guards", test_guards_come_in_pairs);
  g_test_add_func("/domain/machine/ends", test_ends_are_ends);
  g_test_add_func("/domain/machine/reachable", test_all_is_reachable);
  g_test_add_func("/domain/machine/can-end", test_all_can_end);
  g_test_add_func("/domain/machine/cancel-and-loss", test_cancel_and_loss_are_always_legal);
  g_test_add_func("/domain/machine/golden", test_golden);
  g_test_add_func("/domain/machine/names", test_names);
  g_test_add_func("/domain/rules/retry", test_retry);
  g_test_add_func("/domain/rules/retry-spread", test_retry_spreads);
  g_test_add_func("/domain/rules/overlap", test_overlap);
  g_test_add_func("/domain/rules/order", test_order);
  return g_test_run();
}
