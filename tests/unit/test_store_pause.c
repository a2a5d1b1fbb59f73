/* SPDX-License-Identifier: Apache-2.0 */
/* Pause and resume: nothing fires, nothing is lost from the account, waiting runs wait. */
#include "base/clock.h"
#include "store/schedules.h"
#include "store/store_private.h"
#include "store_drive.h"

#define YAML "tasks: {a: {noop: {}, triggers: {t: {every: 1m}, u: {every: 1m}}}}"
#define BACK "UPDATE trigger_schedules SET next_fire_at_ms = next_fire_at_ms - 600000, due_at_ms = due_at_ms - 600000"
/* One range that begins at the old cursor, counts each minute, and ends with the last minute before it was recorded. */
#define RANGES                                                                                                                                               \
  "SELECT g.name, l.outcome, l.reason, l.count = (l.to_at_ms - l.from_at_ms) / 60000 + 1, l.to_at_ms BETWEEN l.recorded_at_ms - 61000 AND l.recorded_at_ms " \
  "FROM ledger l JOIN triggers g ON g.id = l.trigger_id ORDER BY 1"
#define ARMED                                                                                                                              \
  "SELECT g.name, s.armed, s.next_fire_at_ms > s.updated_at_ms FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id ORDER BY 1"

static void test_trigger(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GError) error = NULL;
  fixture_apply(store, YAML);
  gint64 versions = peek_int("SELECT sum(state_version) FROM trigger_schedules");
  g_assert_true(pawl_store_pause(store, NULL, "a/t", 0, "why not", NULL));
  g_assert_cmpint(peek_int("SELECT sum(state_version) FROM trigger_schedules"), ==, versions + 1);
  assert_peek("t|0|1 u|1|1", ARMED);
  assert_peek(
    "why not|tester|-", "SELECT pause_reason, paused_by, pause_until_at_ms FROM trigger_schedules WHERE paused_at_ms IS NOT NULL");
  gint64 since = peek_int("SELECT paused_at_ms FROM trigger_schedules WHERE armed = 0");
  g_assert_true(pawl_store_pause(store, NULL, "a/t", PAWL_AT_MAX_MS, "longer", NULL));
  g_assert_cmpint(peek_int("SELECT paused_at_ms FROM trigger_schedules WHERE armed = 0"), ==, since);
  poke(BACK " WHERE armed = 0");
  g_assert_true(pawl_store_resume(store, NULL, "a/t", FALSE, NULL));
  assert_peek("t|paused|longer|1|1", RANGES);
  assert_peek("t|1|1 u|1|1", ARMED);
  assert_peek("trigger.published trigger.paused trigger.paused trigger.resumed",
    "SELECT kind FROM events WHERE subject = (SELECT id FROM triggers WHERE name = 't') ORDER BY seq");
  versions = peek_int("SELECT sum(state_version) FROM trigger_schedules");
  g_assert_true(pawl_store_resume(store, NULL, "a/t", FALSE, NULL)); /* nothing to resume */
  g_assert_cmpint(peek_int("SELECT sum(state_version) FROM trigger_schedules"), ==, versions);
  g_assert_false(pawl_store_pause(store, NULL, "a/t", 1000, NULL, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
  fixture_store_close(store);
}

static void test_catch_up(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, YAML);
  g_assert_true(pawl_store_pause(store, NULL, "a/t", 0, NULL, NULL));
  poke(BACK " WHERE armed = 0");
  gint64 cursor = peek_int("SELECT next_fire_at_ms FROM trigger_schedules WHERE armed = 0");
  g_assert_true(pawl_store_resume(store, NULL, "a/t", TRUE, NULL));
  assert_peek("0", "SELECT count(*) FROM ledger");
  g_assert_cmpint(peek_int("SELECT min(next_fire_at_ms) FROM trigger_schedules WHERE armed = 1"), ==, cursor);
  fixture_store_close(store);
}

/* The task's pause and the trigger's own are two things. */
static void test_task(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, YAML);
  g_assert_true(pawl_store_pause(store, NULL, "a/u", 0, "own", NULL));
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, NULL, NULL));
  assert_peek("t|0|1 u|0|1", ARMED);
  poke(BACK);
  fixture_apply(store, "tasks: {a: {noop: {}, timeout: 1m, triggers: {t: {every: 1m}, u: {every: 1m}}}}");
  assert_peek("t|0|0 u|0|0", ARMED);
  g_assert_true(pawl_store_resume(store, NULL, "a", FALSE, NULL));
  assert_peek("t|1|1 u|0|0", ARMED);
  assert_peek("t|paused|-|1|1", RANGES);
  g_assert_true(pawl_store_resume(store, NULL, "a/u", FALSE, NULL));
  assert_peek("t|1|1 u|1|1", ARMED);
  assert_peek("t|paused|-|1|1 u|paused|own|1|1", RANGES);
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, NULL, NULL));
  g_assert_true(pawl_store_pause(store, NULL, "a/t", 0, NULL, NULL));
  g_assert_true(pawl_store_resume(store, NULL, "a/t", FALSE, NULL));
  assert_peek("t|0|1 u|0|1", ARMED);
  fixture_store_close(store);
}

/* A timing edit under a pause: what was missed counts as paused, by the old timing; the new one begins now, still paused. */
static void test_edit_under_pause(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, NULL, NULL));
  poke(BACK);
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 7m}}}}");
  assert_peek("t|paused|-|1|1", RANGES);
  assert_peek("t|0|1", ARMED);
  fixture_store_close(store);
}

/* A pause that has come to its end: only what lies before the end was paused. */
static void test_expired(void) {
  PawlStore *store = fixture_store();
  gint64 now_ms;
  fixture_apply(store, YAML);
  g_assert_true(pawl_store_pause(store, NULL, "a/t", PAWL_AT_MAX_MS, NULL, NULL));
  poke(BACK " WHERE armed = 0");
  gint64 cursor = peek_int("SELECT next_fire_at_ms FROM trigger_schedules WHERE armed = 0");
  g_assert_true(pawl_store_now(store, &now_ms, NULL));
  gint64 end = cursor + 3 * PAWL_MINUTE_MS; /* an occurrence stands exactly there */
  poke("UPDATE trigger_schedules SET pause_until_at_ms = %" G_GINT64_FORMAT " WHERE armed = 0", end);
  g_assert_true(pawl_store_resume_expired(store, NULL));
  assert_peek("3|1", "SELECT count, outcome = 'paused' FROM ledger");
  g_assert_cmpint(peek_int("SELECT min(next_fire_at_ms) FROM trigger_schedules WHERE armed = 1"), ==, end);
  g_assert_true(pawl_store_pause(store, NULL, "a", PAWL_AT_MAX_MS, NULL, NULL));
  poke("UPDATE tasks SET pause_until_at_ms = %" G_GINT64_FORMAT, now_ms);
  g_assert_true(pawl_store_resume_expired(store, NULL));
  assert_peek("2", "SELECT sum(armed) FROM trigger_schedules");
  assert_peek("-", "SELECT paused_at_ms FROM tasks");
  fixture_store_close(store);
}

static void test_quarantined(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, YAML);
  poke(
    "UPDATE trigger_schedules SET armed = 0, quarantined_at_ms = 1, quarantine_until_at_ms = 9999999999999, quarantine_count = 3, quarantine_reason = 'bad'");
  g_assert_true(pawl_store_resume(store, NULL, "a/t", FALSE, NULL));
  assert_peek("t|1|0|- u|0|3|1",
    "SELECT g.name, s.armed, s.quarantine_count, s.quarantined_at_ms FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id ORDER BY 1");
  fixture_apply(store, "tasks: {a: {noop: {}, timeout: 1m, triggers: {t: {every: 1m}, u: {every: 1m}}}}");
  assert_peek(
    "t|1|0 u|1|0", "SELECT g.name, s.armed, s.quarantine_count FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id ORDER BY 1");
  fixture_store_close(store);
}

static void test_waiting_runs(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) grants = drive_grants();
  drive_open(store, 8);
  fixture_apply(store, YAML);
  drive_enqueue(store, "a");
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, NULL, NULL));
  drive_enqueue(store, "a");
  g_assert_cmpuint(drive_pull(store, 8, grants), ==, 0);
  assert_peek("0|2", "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM parked WHERE reason = 'paused')");
  g_assert_true(pawl_store_resume(store, NULL, "a", FALSE, NULL));
  assert_peek("2|0", "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM parked)");
  g_assert_cmpuint(drive_pull(store, 8, grants), ==, 2);
  fixture_store_close(store);
}

/* Counting: exact up to a bound, then a lower bound that says so; the last occurrence is right in any case. */
static void test_span(void) {
  static const struct {
    const char *cron;
    gint64 from, until, count, to;
    gboolean exact;
  } rows[] = {
    {"0 * * * *", 3600000, 3600000, 1, 3600000, TRUE},
    {"0 * * * *", 3600000, 10799999, 2, 7200000, TRUE},
    {"* * * * *", 60000, 60000LL * 20000, 20000, 60000LL * 20000, TRUE},
    {"* * * * *", 60000, 60000LL * 500000 + 59999, 20001, 60000LL * 500000, FALSE},
    {"* 0 * * *", 0, 60000LL * 1440 * 1000 - 1, 20001, 86400000LL * 999 + 59 * 60000LL, FALSE},
  };
  PawlZone *zone = pawl_zone_new("UTC", NULL);
  PawlSpan span;
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    PawlTiming timing = {.kind = PAWL_TIMING_CRON, .cron = pawl_cron_parse(rows[i].cron, PAWL_CRON_MINUTES, NULL, zone, NULL)};
    g_test_message("row %" G_GSIZE_FORMAT, i + 1);
    g_assert_true(pawl_span(&timing, rows[i].from, rows[i].until, &span));
    g_assert_cmpint(span.count, ==, rows[i].count);
    g_assert_cmpint(span.to_ms, ==, rows[i].to);
    g_assert_cmpint(span.exact, ==, rows[i].exact);
    pawl_timing_clear(&timing);
  }
  PawlTiming every = {.kind = PAWL_TIMING_EVERY, .every_ms = 1000, .until_ms = 5000001};
  g_assert_true(pawl_span(&every, 1000, G_MAXINT64 / 2, &span));
  g_assert_cmpint(span.count, ==, 5000);
  g_assert_cmpint(span.to_ms, ==, 5000000);
  g_assert_false(pawl_span(&every, 1000, 999, &span));
  pawl_zone_unref(zone);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/pause/trigger", test_trigger);
  g_test_add_func("/store/pause/catch_up", test_catch_up);
  g_test_add_func("/store/pause/task", test_task);
  g_test_add_func("/store/pause/edit_under_pause", test_edit_under_pause);
  g_test_add_func("/store/pause/expired", test_expired);
  g_test_add_func("/store/pause/quarantined", test_quarantined);
  g_test_add_func("/store/pause/waiting_runs", test_waiting_runs);
  g_test_add_func("/store/pause/span", test_span);
  return g_test_run();
}
