/* SPDX-License-Identifier: Apache-2.0 */
/* Asking for runs, cancelling, repeating, finding and listing them, and what is said of them. */
#include "base/clock.h"
#include "store_drive.h"

static GPtrArray *sentences_of(PawlStore *store, const PawlId *run) {
  g_autoptr(GError) error = NULL;
  GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);
  pawl_store_explain_run(store, run, sentences, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < sentences->len; i++) g_test_message("%s", (char *)sentences->pdata[i]);
  return sentences;
}

/* The explanation has a sentence with these words; the first one when `first`. */
static void assert_says(PawlStore *store, const PawlId *run, gboolean first, const char *words) {
  g_autoptr(GPtrArray) sentences = sentences_of(store, run);
  gboolean found = FALSE;
  for (guint i = 0; i < (first ? 1 : sentences->len); i++) found = found || strstr(sentences->pdata[i], words) != NULL;
  if (!found) g_error("nothing says '%s'", words);
}

static char *states_of(PawlStore *store, const PawlRunFilter *filter) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  if (!pawl_store_runs(store, filter, rows, &error)) return g_strdup(error->message);
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < rows->len; i++) {
    const PawlRunRow *row = g_ptr_array_index(rows, i);
    g_string_append_printf(text, "%s%s:%s", i > 0 ? " " : "", row->task, pawl_run_state_name(row->state));
    if (i > 0) g_assert_cmpint(pawl_id_compare(&row->id, &((PawlRunRow *)g_ptr_array_index(rows, i - 1))->id), <, 0);
  }
  return g_string_free(text, FALSE);
}

static PawlRunState state_of(PawlStore *store, const PawlId *run) {
  PawlRunRow *row = pawl_store_run(store, run, NULL);
  g_assert_nonnull(row);
  PawlRunState state = row->state;
  pawl_run_row_free(row);
  return state;
}

static void test_enqueue(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GError) error = NULL;
  PawlId run;
  gint priority = 5, wild = 1001;
  fixture_apply(store, "tasks: {backup: {noop: {}, start_within: 1h, priority: 2, slots: 3}}");
  PawlEnqueue request = {.task = "backup", .input = "{\"a\":1}", .origin = "api", .priority = &priority};
  g_assert_true(pawl_store_enqueue(store, &request, &run, NULL));
  assert_peek("api|5|tester|{\"a\":1}", "SELECT origin, priority, requested_by, input FROM runs");
  assert_peek("3|1|3600000|0", "SELECT slots, order_key = since_at_ms - 50000, start_by_at_ms - since_at_ms, trigger_born FROM ready");
  assert_peek("run.created run.queued", "SELECT kind FROM events WHERE subject = (SELECT id FROM runs) ORDER BY seq");
  request = (PawlEnqueue){.task = "backup", .start_at_ms = PAWL_AT_MAX_MS};
  g_assert_true(pawl_store_enqueue(store, &request, &run, NULL));
  assert_peek("start_at|1", "SELECT reason, start_by_at_ms = wake_at_ms + 3600000 FROM parked");
  g_assert_cmpint(state_of(store, &run), ==, PAWL_RUN_SCHEDULED);
  assert_says(store, &run, TRUE, "It was asked to start at 2900-12-31T23:59:59");
  request = (PawlEnqueue){.task = "bakup"};
  g_assert_false(pawl_store_enqueue(store, &request, &run, &error));
  g_assert_cmpstr(error->message, ==, "there is no task 'bakup'; did you mean 'backup'?");
  g_clear_error(&error);
  request = (PawlEnqueue){.task = "invoice"};
  fixture_apply(store, "project: billing\ntasks: {invoice: {noop: {}}}");
  g_assert_false(pawl_store_enqueue(store, &request, &run, &error));
  g_assert_cmpstr(error->message, ==, "there is no task 'invoice' in this project; project 'billing' has one: --project billing");
  g_clear_error(&error);
  request = (PawlEnqueue){.task = "backup", .priority = &wild};
  g_assert_false(pawl_store_enqueue(store, &request, &run, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_INVALID);
  fixture_store_close(store);
}

static void test_cancel(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) grants = drive_grants();
  guint cancelled;
  drive_open(store, 8);
  fixture_apply(store, "tasks: {a: {noop: {}}, b: {noop: {}}}");
  PawlId waiting = drive_enqueue(store, "a");
  g_assert_true(pawl_store_cancel_run(store, &waiting, "not today", NULL));
  g_assert_cmpint(state_of(store, &waiting), ==, PAWL_RUN_CANCELLED);
  assert_says(store, &waiting, TRUE, "was cancelled");
  assert_says(store, &waiting, FALSE, "not today");
  g_assert_false(pawl_store_cancel_run(store, &waiting, NULL, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT);
  g_clear_error(&error);
  PawlId running = drive_enqueue(store, "a");
  drive_pull(store, 1, grants);
  drive_start(store, g_ptr_array_index(grants, 0));
  g_assert_true(pawl_store_cancel_run(store, &running, NULL, NULL));
  g_assert_true(pawl_store_cancel_run(store, &running, "again", NULL));
  g_assert_cmpint(state_of(store, &running), ==, PAWL_RUN_RUNNING);
  assert_peek("tester|cancelled by tester", "SELECT requested_by, reason FROM cancels");
  assert_says(store, &running, TRUE, "A cancel was asked for");
  drive_enqueue(store, "a");
  drive_enqueue(store, "a");
  PawlId other = drive_enqueue(store, "b");
  g_assert_true(pawl_store_cancel_task(store, NULL, "a", NULL, &cancelled, NULL));
  g_assert_cmpuint(cancelled, ==, 2);
  g_assert_cmpint(state_of(store, &other), ==, PAWL_RUN_QUEUED);
  g_assert_true(pawl_store_cancel_task(store, NULL, "b", NULL, &cancelled, NULL));
  g_assert_cmpuint(cancelled, ==, 1);
  PawlId nobody = pawl_id_random();
  g_assert_false(pawl_store_cancel_run(store, &nobody, NULL, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND);
  fixture_store_close(store);
}

/* More than fits into one transaction. */
static void test_cancel_many(void) {
  PawlStore *store = fixture_store();
  guint cancelled;
  fixture_apply(store, "tasks: {a: {noop: {}}}");
  drive_enqueue(store, "a");
  poke(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
    "INSERT INTO runs SELECT randomblob(16), project_id, task_id, 1, NULL, NULL, 'manual', NULL, queued_at_ms + i, 0, NULL, NULL, NULL FROM runs, n;"
    "INSERT INTO ready SELECT r.id, 1, task_id, (SELECT pool_id FROM ready), 1, queued_at_ms, 0, 0, 0, NULL, queued_at_ms FROM runs r WHERE id NOT IN (SELECT run_id FROM ready)");
  g_assert_true(pawl_store_delete(store, NULL, "a", &cancelled, NULL));
  g_assert_cmpuint(cancelled, ==, 12001);
  assert_peek("0|12001", "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM attempts WHERE state = 'cancelled' AND last = 1)");
  fixture_store_close(store);
}

static void test_retry(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GError) error = NULL;
  PawlId again, third;
  guint cancelled;
  drive_open(store, 8);
  fixture_apply(store, "tasks: {a: {noop: {}, start_within: 1m}}");
  PawlEnqueue request = {.task = "a", .input = "x"};
  PawlId run;
  g_assert_true(pawl_store_enqueue(store, &request, &run, NULL));
  g_assert_false(pawl_store_retry(store, &run, &again, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT);
  g_clear_error(&error);
  g_assert_true(pawl_store_cancel_run(store, &run, NULL, NULL));
  fixture_apply(store, "tasks: {a: {noop: {}, priority: 7}}");
  g_assert_true(pawl_store_retry(store, &run, &again, NULL));
  PawlRunRow *row = pawl_store_run(store, &again, NULL);
  g_assert_cmpstr(row->origin, ==, "retry");
  g_assert_true(pawl_id_equal(&row->retry_of, &run));
  g_assert_cmpint(row->task_revision, ==, 2);
  pawl_run_row_free(row);
  assert_peek("x|7|tester", "SELECT input, priority, requested_by FROM runs WHERE origin = 'retry'");
  g_assert_true(pawl_store_delete(store, NULL, "a", &cancelled, NULL));
  g_assert_false(pawl_store_retry(store, &again, &third, &error));
  g_assert_cmpstr(error->message, ==, "task 'a' was deleted; apply it again before its runs are retried");
  fixture_store_close(store);
}

/* A retry of a scheduled run speaks of the same instant, and counts as born of the trigger. */
static void test_retry_scheduled(void) {
  PawlStore *store = fixture_store();
  PawlId again;
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
  poke(
    "INSERT INTO runs SELECT x'00000000000080008000000000000001', project_id, task_id, 1, trigger_id, 1, 'schedule', 60000, 60000, 0, NULL, NULL, NULL FROM trigger_schedules;"
    "INSERT INTO attempts (run_id, attempt, state, last, lease_version, finished_at_ms) VALUES (x'00000000000080008000000000000001', 1, 'failed', 1, 1, 60000)");
  PawlId old;
  g_assert_true(pawl_store_find_run(store, NULL, "a/t", &old, NULL));
  g_assert_true(pawl_store_retry(store, &old, &again, NULL));
  assert_peek("60000|1",
    "SELECT r.nominal_at_ms, w.trigger_born FROM runs r JOIN ready w ON w.run_id = r.id WHERE r.origin = 'retry' AND r.trigger_id IS NOT NULL");
  assert_says(store, &again, FALSE, "It repeats run 00000001; tester asked for it");
  fixture_store_close(store);
}

static void test_find(void) {
  static const struct {
    const char *text, *result;
  } rows[] = {
    {"0000000a",
      "conflict: several runs end in 0000000a: 0190aaaa-0000-7000-8000-02220000000a, 0190aaaa-0000-7000-8000-01110000000a; give more of the id"},
    {"1110000000A", "0190aaaa-0000-7000-8000-01110000000a"},
    {"0222-0000000a", "0190aaaa-0000-7000-8000-02220000000a"},
    {"0000000b", "0190aaaa-0000-7000-8000-03330000000b"},
    {"000000b", "not_found: there is no task '000000b'"},
    {"0000000c", "not_found: there is no task '0000000c', and no run among the newest 100,000 whose id ends so"},
    {"0190AAAA-0000-7000-8000-03330000000b", "0190aaaa-0000-7000-8000-03330000000b"},
    {"0190aaaa-0000-7000-8000-03330000000c", "not_found: there is no run 0190aaaa-0000-7000-8000-03330000000c"},
    {"a", "0190aaaa-0000-7000-8000-03330000000b"},
    {"b", "not_found: 'b' has no runs"},
    {"b/t", "not_found: 'b/t' has no runs"},
    {"b/x", "not_found: there is no trigger of task 'b' named 'x'; did you mean 't'?"},
  };
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}}, b: {noop: {}, triggers: {t: {every: 1m}}}}");
  poke(
    "INSERT INTO runs SELECT i.column1, project_id, id, 1, NULL, NULL, 'manual', NULL, 1, 0, NULL, NULL, NULL FROM tasks, "
    "(VALUES (x'0190aaaa00007000800001110000000a'), (x'0190aaaa00007000800002220000000a'), (x'0190aaaa00007000800003330000000b')) i WHERE name = 'a'");
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    char text[PAWL_ID_TEXT];
    PawlId run;
    g_autofree char *result = pawl_store_find_run(store, NULL, rows[i].text, &run, &error)
                                ? g_strdup(pawl_id_text(&run, text))
                                : g_strdup_printf("%s: %s", pawl_error_info_of(error)->name, error->message);
    g_assert_cmpstr(result, ==, rows[i].result);
  }
  fixture_store_close(store);
}

#define STATES(...) .states = (const PawlRunState[]){__VA_ARGS__}, .n_states = G_N_ELEMENTS(((const PawlRunState[]){__VA_ARGS__}))

static void test_lists(void) {
  const struct {
    const char *name;
    PawlRunFilter filter;
    const char *result;
  } rows[] = {
    {"all", {.limit = 0}, "b:queued a:queued a:running b:failed a:cancelled a:failed a:succeeded"},
    {"limit", {.limit = 2}, "b:queued a:queued"},
    {"task", {.task = "a"}, "a:queued a:running a:cancelled a:failed a:succeeded"},
    {"failed", {STATES(PAWL_RUN_FAILED)}, "b:failed a:failed"},
    {"failed, newest", {.limit = 1, STATES(PAWL_RUN_FAILED)}, "b:failed"},
    {"failed of a", {.task = "a", STATES(PAWL_RUN_FAILED)}, "a:failed"},
    {"unfinished", {STATES(PAWL_RUN_QUEUED, PAWL_RUN_RUNNING, PAWL_RUN_RETRY_WAIT, PAWL_RUN_SCHEDULED)}, "b:queued a:queued a:running"},
    {"unfinished of a", {.task = "a", STATES(PAWL_RUN_QUEUED, PAWL_RUN_RUNNING)}, "a:queued a:running"},
    {"running or failed", {STATES(PAWL_RUN_RUNNING, PAWL_RUN_FAILED, PAWL_RUN_CANCELLED)}, "a:running b:failed a:cancelled a:failed"},
    {"succeeded", {STATES(PAWL_RUN_SUCCEEDED)}, "a:succeeded"},
    {"succeeded or failed", {STATES(PAWL_RUN_SUCCEEDED, PAWL_RUN_FAILED)}, "b:failed a:failed a:succeeded"},
    {"origin", {.origin = "schedule"}, ""},
    {"since", {.since_ms = PAWL_AT_MAX_MS}, ""},
    {"project", {.project = "default", .task = "b"}, "b:queued b:failed"},
    {"no such task", {.task = "c"}, "there is no task 'c'; did you mean 'a'?"},
    {"no such trigger", {.trigger = "t"}, "there is no trigger 't'"},
    {"trigger of a", {.trigger = "a/u"}, ""},
    {"trigger", {.trigger = "u"}, ""},
  };
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) grants = drive_grants();
  drive_open(store, 8);
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {u: {every: 1h}}}, b: {noop: {}}}");
  drive_run(store, "a", PAWL_EVENT_SUCCEED, 0);
  drive_run(store, "a", PAWL_EVENT_FAIL, 3);
  PawlId cancelled = drive_enqueue(store, "a");
  g_assert_true(pawl_store_cancel_run(store, &cancelled, NULL, NULL));
  drive_run(store, "b", PAWL_EVENT_LOSE, -1);
  drive_enqueue(store, "a");
  drive_pull(store, 1, grants);
  drive_start(store, g_ptr_array_index(grants, 0));
  drive_enqueue(store, "a");
  drive_enqueue(store, "b");
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_test_message("%s", rows[i].name);
    g_autofree char *result = states_of(store, &rows[i].filter);
    g_assert_cmpstr(result, ==, rows[i].result);
  }
  fixture_store_close(store);
}

static void test_status(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) grants = drive_grants();
  drive_open(store, 8);
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1h}, u: {every: 2h}}}, b: {noop: {}}}");
  for (guint i = 0; i < 3; i++) drive_run(store, "a", PAWL_EVENT_SUCCEED, 0);
  for (guint i = 0; i < 7; i++) drive_run(store, "b", PAWL_EVENT_FAIL, 1);
  drive_enqueue(store, "a");
  drive_pull(store, 1, grants);
  drive_enqueue(store, "a");
  g_assert_true(pawl_store_pause(store, NULL, "b", 0, NULL, NULL));
  poke(
    "UPDATE trigger_schedules SET next_fire_at_ms = next_fire_at_ms - 7200000, due_at_ms = due_at_ms - 7200000 WHERE trigger_id = (SELECT id FROM triggers WHERE name = 't')");
  PawlStatus *status = pawl_store_status(store, NULL);
  g_assert_nonnull(status);
  g_assert_cmpint(status->tasks, ==, 2);
  g_assert_cmpint(status->triggers, ==, 2);
  g_assert_cmpint(status->paused, ==, 1);
  g_assert_cmpint(status->running, ==, 1);
  g_assert_cmpint(status->waiting, ==, 1);
  g_assert_cmpint(status->succeeded_day, ==, 3);
  g_assert_cmpint(status->failed_day, ==, 7);
  g_assert_cmpint(status->oldest_due_ms, >, 0);
  g_assert_cmpuint(status->failed->len, ==, 5);
  g_assert_cmpuint(status->running_rows->len, ==, 1);
  g_assert_cmpuint(status->coming->len, ==, 2);
  g_assert_cmpstr(((PawlComing *)g_ptr_array_index(status->coming, 0))->trigger, ==, "t");
  pawl_status_free(status);
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_assert_true(pawl_store_tasks(store, "default", NULL, tasks, NULL));
  const PawlTaskRow *a = g_ptr_array_index(tasks, 0), *b = g_ptr_array_index(tasks, 1);
  g_assert_cmpstr(a->last_state, ==, "succeeded");
  g_assert_cmpint(a->waiting, ==, 1);
  g_assert_cmpint(a->running, ==, 1);
  g_assert_cmpuint(a->triggers->len, ==, 2);
  g_assert_cmpstr(b->state, ==, "paused");
  g_assert_cmpstr(b->last_state, ==, "failed");
  fixture_store_close(store);
}

static void test_explain(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) grants = drive_grants();
  drive_open(store, 3);
  fixture_apply(store,
    "pools: {io: {slots: 2}, off: {slots: 0}}\n"
    "tasks: {a: {noop: {}, pool: io}, wide: {noop: {}, pool: io, slots: 4}, one: {noop: {}, max_active: 1}, off: {noop: {}, pool: off},"
    " again: {noop: {}, retry: {attempts: 3, backoff: 1h}}}");
  PawlHold *hold = pawl_db_hold(pawl_store_db(store), NULL);
  PawlId first = drive_enqueue(store, "a");
  drive_enqueue(store, "a");
  PawlId third = drive_enqueue(store, "a"), fourth = drive_enqueue(store, "a"), wide = drive_enqueue(store, "wide"),
         off = drive_enqueue(store, "off");
  g_assert_cmpuint(drive_pull(store, 2, grants), ==, 2);
  drive_start(store, g_ptr_array_index(grants, 0));
  assert_says(store, &first, TRUE, "Attempt 1 has been running for");
  assert_says(store, &third, TRUE, "Pool io has 2 slots, 2 used, and it wants 1. They are held by run ");
  assert_says(store, &fourth, FALSE, "1 waiting run of its pool comes before it.");
  assert_says(store, &wide, TRUE, "It wants 4 slots and pool io has 2: it cannot start before the pool grows (unsatisfiable).");
  assert_says(store, &off, TRUE, "Pool off is paused: it has 0 slots.");
  drive_enqueue(store, "one");
  PawlId second = drive_enqueue(store, "one");
  g_assert_cmpuint(drive_pull(store, 1, grants), ==, 1);
  assert_says(store, &second, TRUE, "Task one may have 1 run at once (max_active) and has 1: run ");
  assert_says(store, &second, FALSE, "The workers have room for 3 runs (--slots) and hold 3.");
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, "disk work", NULL));
  assert_says(store, &third, TRUE, "by tester, until it is resumed: disk work.");
  g_ptr_array_set_size(grants, 0);
  drive_open(store, 9);
  PawlId again = drive_enqueue(store, "again");
  g_assert_cmpuint(drive_pull(store, 1, grants), ==, 1);
  drive_start(store, g_ptr_array_index(grants, 0));
  g_assert_cmpint(drive_finish(store, g_ptr_array_index(grants, 0), PAWL_EVENT_FAIL, 9), ==, PAWL_RUN_RETRY_WAIT);
  assert_says(store, &again, TRUE, "The retry rule gives it attempt 2 at ");
  assert_says(store, &again, FALSE, "Attempt 1 failed with exit code 9 after ");
  pawl_hold_release(hold);
  assert_says(store, &wide, FALSE, "No `pawl up` runs on this store");
  assert_says(store, &first, TRUE, "Attempt 1 was running when pawl went away; it is settled at the next start.");
  fixture_store_close(store);
}

static void test_events_and_attempts(void) {
  PawlStore *store = fixture_store();
  drive_open(store, 1);
  fixture_apply(store, "tasks: {a: {noop: {}}}");
  PawlId run = drive_run(store, "a", PAWL_EVENT_FAIL, 4);
  g_autoptr(GPtrArray) attempts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_attempt_row_free);
  g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_event_row_free);
  g_assert_true(pawl_store_attempts(store, &run, attempts, NULL));
  g_assert_cmpuint(attempts->len, ==, 1);
  g_assert_cmpint(((PawlAttemptRow *)g_ptr_array_index(attempts, 0))->exit_code, ==, 4);
  g_assert_true(pawl_store_events(store, &run, 1, events, NULL));
  g_assert_cmpuint(events->len, >=, 3);
  g_assert_cmpint(((PawlEventRow *)g_ptr_array_index(events, 0))->seq, ==, 2);
  g_assert_cmpstr(((PawlEventRow *)g_ptr_array_index(events, 0))->kind, ==, "run.queued");
  fixture_store_close(store);
}

static void test_output(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_part_free);
  PawlId run;
  fixture_apply(store, "tasks: {a: {noop: {}}}");
  run = drive_enqueue(store, "a");
  poke("INSERT INTO output SELECT id, 1, n.value, 5, 1, zeroblob(400000) FROM runs, (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3) n;"
       "INSERT INTO output SELECT id, 2, 1, 6, 2, x'00ff' FROM runs");
  g_assert_true(pawl_store_output(store, &run, 0, 0, parts, NULL));
  g_assert_cmpuint(parts->len, ==, 2);
  g_assert_true(pawl_store_output(store, &run, 1, 2, parts, NULL));
  g_assert_cmpuint(parts->len, ==, 4);
  const PawlOutputPart *last = g_ptr_array_index(parts, 3);
  g_assert_cmpint(last->attempt, ==, 2);
  g_assert_cmpuint(g_bytes_get_size(last->bytes), ==, 2);
  fixture_store_close(store);
}

static void test_occurrences(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GError) error = NULL;
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}, u: {every: 1m}}}}");
  poke(
    "INSERT INTO ledger SELECT id, 100, 300, 'skipped', 3, 1, NULL, 300 FROM triggers WHERE name = 't';"
    "INSERT INTO ledger SELECT id, 500, 500, 'overlap', 1, 1, 'busy', 500 FROM triggers WHERE name = 't';"
    "INSERT INTO runs SELECT x'00000000019080008000000000000001', project_id, task_id, 1, trigger_id, 1, 'schedule', 400, 400, 0, NULL, NULL, NULL FROM trigger_schedules "
    "WHERE trigger_id = (SELECT id FROM triggers WHERE name = 't');"
    "INSERT INTO attempts (run_id, attempt, state, last, lease_version, finished_at_ms) VALUES (x'00000000019080008000000000000001', 1, 'lost', 1, 1, 600)");
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_occurrence_free);
  g_assert_true(pawl_store_tasks(store, NULL, "a", tasks, NULL));
  const PawlTriggerRow *trigger = g_ptr_array_index(((PawlTaskRow *)g_ptr_array_index(tasks, 0))->triggers, 0);
  g_assert_true(pawl_store_occurrences(store, &trigger->id, 10, rows, NULL));
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < rows->len; i++) {
    const PawlOccurrence *o = g_ptr_array_index(rows, i);
    g_string_append_printf(
      text, "%d-%d x%d %s %s; ", (int)o->from_ms, (int)o->to_ms, (int)o->count, o->outcome, o->run_state != NULL ? o->run_state : "-");
  }
  g_assert_cmpstr(text->str, ==, "500-500 x1 overlap -; 400-400 x1 admitted failed; 100-300 x3 skipped -; ");
  PawlId nobody = pawl_id_random();
  g_assert_false(pawl_store_occurrences(store, &nobody, 10, rows, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND);
  fixture_store_close(store);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/runs/enqueue", test_enqueue);
  g_test_add_func("/store/runs/cancel", test_cancel);
  g_test_add_func("/store/runs/cancel_many", test_cancel_many);
  g_test_add_func("/store/runs/retry", test_retry);
  g_test_add_func("/store/runs/retry_scheduled", test_retry_scheduled);
  g_test_add_func("/store/runs/find", test_find);
  g_test_add_func("/store/runs/lists", test_lists);
  g_test_add_func("/store/runs/status", test_status);
  g_test_add_func("/store/runs/explain", test_explain);
  g_test_add_func("/store/runs/events_and_attempts", test_events_and_attempts);
  g_test_add_func("/store/runs/output", test_output);
  g_test_add_func("/store/runs/occurrences", test_occurrences);
  return g_test_run();
}
