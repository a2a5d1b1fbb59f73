/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling, dispatch and leases against a real store: what is admitted, what is handed out, what is fenced. */
#include "base/clock.h"
#include "base/error.h"
#include "store/dispatch.h"
#include "store/publish.h"
#include "store/runs.h"
#include "store/schedules.h"
#include "store_fixture.h"

#include <string.h>

typedef struct {
  PawlStore *store;
  PawlId session;
  GPtrArray *grants;
  PawlPassResult pass;
} World;

static void world_open(World *w, const char *yaml) {
  *w = (World){
    .store = fixture_store(), .session = pawl_id_random(), .grants = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_grant_free)};
  gint64 generation;
  char name[] = "test", boot[] = "boot";
  PawlSession session = {.id = w->session, .name = name, .capacity = 8, .boot_id = boot, .pid = 1};
  g_assert_true(pawl_store_session_open(w->store, &session, &generation, NULL));
  fixture_apply(w->store, yaml);
}

static void world_close(World *w) {
  g_ptr_array_unref(w->grants);
  fixture_store_close(w->store);
}

static PawlId enqueue(World *w, const char *task, gint priority) {
  g_autoptr(GError) error = NULL;
  PawlId run;
  PawlEnqueue request = {.project = "default", .task = task, .origin = "manual", .priority = &priority};
  pawl_store_enqueue(w->store, &request, &run, &error);
  g_assert_no_error(error);
  return run;
}

static guint pull(World *w, guint room) {
  g_autoptr(GError) error = NULL;
  guint before = w->grants->len;
  do { /* a pass is bounded in time; on a slow machine it says that there is more */
    pawl_store_pull(w->store, &w->session, room - (w->grants->len - before), 30000, w->grants, &w->pass, &error);
    g_assert_no_error(error);
  } while (w->pass.more && w->grants->len - before < room);
  return w->grants->len - before;
}

static PawlGrant *grant_at(World *w, guint i) { return g_ptr_array_index(w->grants, i); }

static gboolean start(World *w, const PawlGrant *grant) {
  g_autoptr(GError) error = NULL;
  PawlStart s = {.run = grant->run, .token = grant->token, .attempt = grant->attempt, .lease_version = grant->lease_version};
  pawl_store_start(w->store, &s, 1, &error);
  g_assert_no_error(error);
  return s.accepted;
}

static PawlFinish finish(World *w, const PawlGrant *grant, PawlMachineEvent event) {
  g_autoptr(GError) error = NULL;
  PawlFinish f = {.run = grant->run,
    .token = grant->token,
    .attempt = grant->attempt,
    .lease_version = grant->lease_version,
    .event = event,
    .exit_code = event == PAWL_EVENT_SUCCEED ? 0 : 1,
    .started_at_ms = pawl_clock_wall_ms()};
  pawl_store_finish(w->store, &f, 1, &error);
  g_assert_no_error(error);
  return f;
}

static PawlRunState state_of(World *w, const PawlId *run) {
  g_autoptr(GError) error = NULL;
  PawlRunRow *row = pawl_store_run(w->store, run, &error);
  g_assert_no_error(error);
  PawlRunState state = row->state;
  pawl_run_row_free(row);
  return state;
}

/* ---- pools ---- */

static void dispatch_pool_is_never_over(void) {
  World w;
  world_open(&w, "pools: {p: {slots: 2}}\ntasks: {a: {noop: {}, pool: p}}");
  for (int i = 0; i < 5; i++) enqueue(&w, "a", 0);
  g_assert_cmpuint(pull(&w, 10), ==, 2);
  g_assert_cmpuint(pull(&w, 10), ==, 0);
  finish(&w, grant_at(&w, 0), PAWL_EVENT_SUCCEED);
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  world_close(&w);
}

static void dispatch_A1(void) { /* a pool that shrinks below its use starts nothing until the use is below the new size */
  World w;
  world_open(&w, "pools: {p: {slots: 3}}\ntasks: {a: {noop: {}, pool: p}}");
  for (int i = 0; i < 13; i++) enqueue(&w, "a", 0);
  g_assert_cmpuint(pull(&w, 10), ==, 3);
  g_assert_true(pawl_store_pool_override(w.store, "default", "p", 2, NULL));
  for (int loop = 0; loop < 5; loop++) g_assert_cmpuint(pull(&w, 10), ==, 0);
  finish(&w, grant_at(&w, 0), PAWL_EVENT_SUCCEED);
  g_assert_cmpuint(pull(&w, 10), ==, 0);
  finish(&w, grant_at(&w, 1), PAWL_EVENT_SUCCEED);
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  world_close(&w);
}

static void dispatch_A2(void) { /* pool 6, five attempts of 3 slots: two at any time */
  World w;
  world_open(&w, "pools: {p: {slots: 6}}\ntasks: {a: {noop: {}, pool: p, slots: 3}}");
  for (int i = 0; i < 5; i++) enqueue(&w, "a", 0);
  for (guint done = 0; done < 4; done++) {
    pull(&w, 10);
    g_assert_cmpuint(w.grants->len - done, ==, 2);
    finish(&w, grant_at(&w, done), PAWL_EVENT_SUCCEED);
  }
  world_close(&w);
}

static void dispatch_A11(void) { /* wider than its pool: parked as unsatisfiable, hides nothing, starts once the pool is large enough */
  World w;
  world_open(&w, "pools: {p: {slots: 2}}\ntasks: {wide: {noop: {}, pool: p, slots: 4}, a: {noop: {}, pool: p}}");
  PawlId run = enqueue(&w, "wide", 0);
  enqueue(&w, "a", 0);
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  g_assert_cmpstr(grant_at(&w, 0)->task_name, ==, "a");
  g_autoptr(GPtrArray) why = g_ptr_array_new_with_free_func(g_free);
  g_assert_true(pawl_store_explain_run(w.store, &run, why, NULL));
  g_assert_cmpuint(why->len, >, 0);
  finish(&w, grant_at(&w, 0), PAWL_EVENT_SUCCEED);
  g_assert_true(pawl_store_pool_override(w.store, "default", "p", 4, NULL));
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  g_assert_cmpstr(grant_at(&w, 1)->task_name, ==, "wide");
  world_close(&w);
}

static void dispatch_B1(void) { /* a full pool with 10,000 waiting hides nothing of another pool */
  World w;
  world_open(&w, "pools: {a: {slots: 1}, b: {slots: 10}}\ntasks: {ta: {noop: {}, pool: a}, tb: {noop: {}, pool: b}}");
  for (int i = 0; i < 2000; i++) enqueue(&w, "ta", 100);
  for (int i = 0; i < 10; i++) enqueue(&w, "tb", 0);
  g_assert_cmpuint(pull(&w, 64), ==, 11);
  world_close(&w);
}

static void dispatch_B2_B9(void) { /* 2,000 runs of a task with max_active 2 in front: the other task starts in the same pass */
  World w;
  world_open(&w, "tasks: {x: {noop: {}, max_active: 2}, y: {noop: {}}}");
  for (int i = 0; i < 2000; i++) enqueue(&w, "x", 10);
  PawlId y = enqueue(&w, "y", 0);
  g_assert_cmpuint(pull(&w, 20), ==, 3);
  g_assert_cmpint(state_of(&w, &y), ==, PAWL_RUN_RUNNING);
  for (guint i = 0; i < 20; i++) { /* never over, never idle */
    finish(&w, grant_at(&w, i), PAWL_EVENT_SUCCEED);
    pull(&w, 20);
    g_assert_cmpuint(w.grants->len - i - 1, <=, 3);
    g_assert_cmpuint(w.grants->len - i - 1, >=, 2);
  }
  world_close(&w);
}

static void dispatch_B7(void) { /* priorities 1, 5, 10, one slot: 10, 5, 1 */
  World w;
  static const gint order[] = {10, 5, 1};
  world_open(&w, "pools: {p: {slots: 1}}\ntasks: {a: {noop: {}, pool: p}}");
  PawlId runs[3] = {enqueue(&w, "a", 1), enqueue(&w, "a", 5), enqueue(&w, "a", 10)};
  for (guint i = 0; i < 3; i++) {
    g_assert_cmpuint(pull(&w, 10), ==, 1);
    g_assert_true(pawl_id_equal(&grant_at(&w, i)->run, &runs[order[i] == 10 ? 2 : order[i] == 5 ? 1 : 0]));
    finish(&w, grant_at(&w, i), PAWL_EVENT_SUCCEED);
  }
  world_close(&w);
}

static void dispatch_paused_pool_starts_nothing(void) {
  World w;
  world_open(&w, "pools: {p: {slots: 0}}\ntasks: {a: {noop: {}, pool: p}}");
  enqueue(&w, "a", 0);
  g_assert_cmpuint(pull(&w, 10), ==, 0);
  world_close(&w);
}

static void dispatch_paused_task_waits(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}}, b: {noop: {}}}");
  g_assert_true(pawl_store_pause(w.store, "default", "a", 0, "maintenance", NULL));
  enqueue(&w, "a", 0);
  enqueue(&w, "b", 0);
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  g_assert_true(pawl_store_resume(w.store, "default", "a", FALSE, NULL));
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  world_close(&w);
}

/* ---- fences ---- */

static void dispatch_C11_C12(void) { /* a report of another lease changes nothing; a replay is a no-op */
  World w;
  world_open(&w, "tasks: {a: {noop: {}, retry: {attempts: 2, backoff: 0s}}}");
  PawlId run = enqueue(&w, "a", 0);
  pull(&w, 1);
  PawlGrant forged = *grant_at(&w, 0);
  forged.token = pawl_id_random();
  g_assert_false(finish(&w, &forged, PAWL_EVENT_FAIL).accepted);
  g_assert_cmpint(state_of(&w, &run), ==, PAWL_RUN_RUNNING);
  g_assert_true(finish(&w, grant_at(&w, 0), PAWL_EVENT_SUCCEED).accepted);
  g_assert_true(finish(&w, grant_at(&w, 0), PAWL_EVENT_SUCCEED).accepted);
  g_assert_false(finish(&w, grant_at(&w, 0), PAWL_EVENT_FAIL).accepted);
  g_assert_cmpint(state_of(&w, &run), ==, PAWL_RUN_SUCCEEDED);
  g_autoptr(GPtrArray) events = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_event_row_free);
  g_assert_true(pawl_store_events(w.store, &run, 0, events, NULL));
  guint late = 0, ends = 0;
  for (guint i = 0; i < events->len; i++) {
    const PawlEventRow *event = g_ptr_array_index(events, i);
    late += g_str_equal(event->kind, "attempt.late_report");
    ends += g_str_equal(event->kind, "run.succeeded");
  }
  g_assert_cmpuint(late, ==, 1);
  g_assert_cmpuint(ends, ==, 1);
  world_close(&w);
}

static void start_after_cancel_is_refused(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}}}");
  PawlId run = enqueue(&w, "a", 0);
  pull(&w, 1);
  g_assert_true(pawl_store_cancel_run(w.store, &run, "no longer wanted", NULL));
  g_assert_false(start(&w, grant_at(&w, 0)));
  g_assert_true(finish(&w, grant_at(&w, 0), PAWL_EVENT_CANCEL).accepted);
  g_assert_cmpint(state_of(&w, &run), ==, PAWL_RUN_CANCELLED);
  world_close(&w);
}

static void a_failed_attempt_is_retried_and_a_cancelled_one_is_not(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}, retry: {attempts: 2, backoff: 0s}}}");
  PawlId first = enqueue(&w, "a", 0), second = enqueue(&w, "a", 0);
  pull(&w, 2);
  g_assert_cmpint(finish(&w, grant_at(&w, 0), PAWL_EVENT_FAIL).run_state, ==, PAWL_RUN_RETRY_WAIT);
  g_assert_true(pawl_store_cancel_run(w.store, &second, "stop", NULL));
  g_assert_cmpint(finish(&w, grant_at(&w, 1), PAWL_EVENT_FAIL).run_state, !=, PAWL_RUN_RETRY_WAIT);
  g_assert_cmpuint(pull(&w, 2), ==, 1);
  g_assert_cmpint(grant_at(&w, 2)->attempt, ==, 2);
  g_assert_cmpint(finish(&w, grant_at(&w, 2), PAWL_EVENT_FAIL).run_state, ==, PAWL_RUN_FAILED);
  g_assert_cmpint(state_of(&w, &first), ==, PAWL_RUN_FAILED);
  world_close(&w);
}

static void dispatch_E9(void) { /* lost: retried while retries are left, else failed with the reason; never started: given back */
  World w;
  world_open(&w, "tasks: {a: {noop: {}, retry: {attempts: 2, backoff: 0s}}, b: {noop: {}}}");
  PawlId a = enqueue(&w, "a", 0), b = enqueue(&w, "b", 0);
  pull(&w, 2);
  start(&w, grant_at(&w, 0));
  g_autoptr(GArray) orphans = g_array_new(FALSE, FALSE, sizeof(PawlOrphan));
  g_assert_true(pawl_store_orphans(w.store, NULL, &PAWL_ID_NONE, orphans, NULL));
  g_assert_cmpuint(orphans->len, ==, 2);
  for (guint i = 0; i < orphans->len; i++) {
    gboolean took = FALSE;
    g_assert_true(pawl_store_orphan_settle(w.store, &g_array_index(orphans, PawlOrphan, i), "gone", &took, NULL));
    g_assert_true(took);
  }
  g_assert_cmpint(state_of(&w, &a), ==, PAWL_RUN_RETRY_WAIT);
  g_assert_cmpint(state_of(&w, &b), ==, PAWL_RUN_QUEUED);
  g_assert_cmpuint(pull(&w, 2), ==, 2);
  for (guint i = 2; i < 4; i++) g_assert_cmpint(grant_at(&w, i)->attempt, ==, pawl_id_equal(&grant_at(&w, i)->run, &a) ? 2 : 1);
  world_close(&w);
}

static void lost_before_its_start_waits_again(void) { /* no attempt is used up, and the others of the batch end */
  World w;
  world_open(&w, "tasks: {a: {noop: {}}, b: {noop: {}}}");
  PawlId a = enqueue(&w, "a", 0), b = enqueue(&w, "b", 0);
  pull(&w, 2);
  PawlFinish both[2];
  for (guint i = 0; i < 2; i++) {
    const PawlGrant *grant = grant_at(&w, i);
    gboolean lost = pawl_id_equal(&grant->run, &a);
    both[i] = (PawlFinish){.run = grant->run,
      .token = grant->token,
      .attempt = grant->attempt,
      .lease_version = grant->lease_version,
      .event = lost ? PAWL_EVENT_LOSE : PAWL_EVENT_SUCCEED,
      .exit_code = lost ? -1 : 0,
      .started_at_ms = lost ? 0 : pawl_clock_wall_ms()};
  }
  g_assert_true(pawl_store_finish(w.store, both, 2, NULL));
  g_assert_cmpint(state_of(&w, &a), ==, PAWL_RUN_QUEUED);
  g_assert_cmpint(state_of(&w, &b), ==, PAWL_RUN_SUCCEEDED);
  g_assert_cmpuint(pull(&w, 2), ==, 1);
  g_assert_cmpint(grant_at(&w, 2)->attempt, ==, 1);
  world_close(&w);
}

static void many_saturated_tasks_hide_none(void) { /* more of them than a page has rows */
  World w;
  GString *yaml = g_string_new("tasks:\n  free: {noop: {}}\n");
  for (int i = 0; i < 600; i++) g_string_append_printf(yaml, "  t%d: {noop: {}, max_active: 1}\n", i);
  world_open(&w, yaml->str);
  g_string_free(yaml, TRUE);
  for (int round = 0; round < 4; round++) {
    for (int i = 0; i < 600; i++) {
      g_autofree char *task = g_strdup_printf("t%d", i);
      enqueue(&w, task, 100);
    }
  }
  while (pull(&w, 1000) > 0) {}
  g_assert_cmpuint(w.grants->len, ==, 600);
  PawlId run = enqueue(&w, "free", 0);
  g_assert_cmpuint(pull(&w, 1000), ==, 1);
  g_assert_cmpint(state_of(&w, &run), ==, PAWL_RUN_RUNNING);
  world_close(&w);
}

static void an_unreadable_spec_holds_up_nothing(void) {
  World w;
  g_autoptr(GError) error = NULL;
  world_open(&w, "tasks: {a: {noop: {}, retry: {attempts: 3, backoff: 0s}}, b: {noop: {}}}");
  PawlId a = enqueue(&w, "a", 0), b = enqueue(&w, "b", 0);
  g_assert_true(pawl_db_begin(pawl_store_db(w.store), PAWL_TX_WRITE, NULL));
  g_assert_true(pawl_db_script(
    pawl_store_db(w.store), "UPDATE task_revisions SET spec = '{' WHERE task_id = (SELECT id FROM tasks WHERE name = 'a')", NULL));
  g_assert_true(pawl_db_commit(pawl_store_db(w.store), NULL));
  pawl_store_close(w.store); /* and with it what it has cached */
  w.store = fixture_reopen();
  g_assert_cmpuint(pull(&w, 2), ==, 2);
  for (guint i = 0; i < 2; i++) g_assert_true(finish(&w, grant_at(&w, i), PAWL_EVENT_FAIL).accepted);
  g_assert_cmpint(state_of(&w, &a), ==, PAWL_RUN_FAILED);
  g_assert_cmpint(state_of(&w, &b), ==, PAWL_RUN_FAILED);
  world_close(&w);
}

static void a_cancelled_run_says_who_and_why(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}}}");
  PawlId run = enqueue(&w, "a", 0);
  pull(&w, 1);
  g_assert_true(pawl_store_cancel_run(w.store, &run, "no longer wanted", NULL));
  finish(&w, grant_at(&w, 0), PAWL_EVENT_CANCEL);
  PawlRunRow *row = pawl_store_run(w.store, &run, NULL);
  g_assert_cmpstr(row->reason, ==, "no longer wanted (asked by tester)");
  pawl_run_row_free(row);
  world_close(&w);
}

static void drift_is_put_aside(void) {
  World w;
  guint found = 0;
  world_open(&w, "tasks: {a: {noop: {}}}");
  PawlId lost = enqueue(&w, "a", 0), doubled = enqueue(&w, "a", 0), fine = enqueue(&w, "a", 0);
  PawlDb *db = pawl_store_db(w.store);
  g_assert_true(pawl_db_exec(db, PAWL_SQL_RECOVER_DROP_READY, NULL, NULL, PAWL_ROW(pawl_id(&lost))));
  g_assert_true(pawl_db_exec(db, PAWL_SQL_RECOVER_MANUAL_FROM_READY, NULL, NULL, PAWL_ROW(pawl_id(&doubled), pawl_text("planted"))));
  g_assert_true(pawl_store_drift(w.store, &found, NULL));
  g_assert_cmpuint(found, ==, 2);
  g_assert_cmpuint(pull(&w, 10), ==, 1);
  g_assert_true(pawl_id_equal(&grant_at(&w, 0)->run, &fine));
  g_assert_true(pawl_store_drift(w.store, &found, NULL));
  g_assert_cmpuint(found, ==, 0);
  world_close(&w);
}

/* ---- admission ---- */

static guint claim(World *w, GArray *rows) {
  gint64 now_ms;
  g_assert_true(pawl_store_claim(w->store, 100, rows, &now_ms, NULL));
  return rows->len;
}

static PawlAdmission decide(World *w, const PawlDueRow *row) {
  PawlAdmission admission = {.row = *row};
  const PawlTriggerSpec *spec = pawl_store_trigger_spec(w->store, &row->trigger, row->trigger_revision, NULL);
  PawlDecideInput input = {row->cursor_ms, row->acquired_at_ms, row->first_claimed_ms, row->made_up};
  pawl_decide(&spec->timing, &row->trigger, &spec->misfire, &input, &admission.decision);
  return admission;
}

static void wait_until_due(World *w, GArray *rows) {
  for (int i = 0; i < 5000 && claim(w, rows) == 0; i++) g_usleep(1000);
  g_assert_cmpuint(rows->len, >, 0);
}

static void admission_happens_once(void) { /* the same claim admitted twice: the second is raced */
  World w;
  world_open(&w, "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}");
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlDueRow));
  wait_until_due(&w, rows);
  PawlAdmission first = decide(&w, &g_array_index(rows, PawlDueRow, 0)), second = decide(&w, &g_array_index(rows, PawlDueRow, 0));
  PawlAdmission *batch[] = {&first}, *again[] = {&second};
  g_assert_true(pawl_store_admit(w.store, batch, 1, NULL));
  g_assert_cmpint(first.outcome, ==, PAWL_ADMIT_DONE);
  g_assert_cmpuint(first.admitted, ==, 1);
  g_assert_true(pawl_store_admit(w.store, again, 1, NULL));
  g_assert_cmpint(second.outcome, ==, PAWL_ADMIT_RACED);
  pawl_decision_clear(&first.decision);
  pawl_decision_clear(&second.decision);
  world_close(&w);
}

static void overlap_skip_goes_to_the_ledger_and_folds(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: skip}}}}");
  PawlId trigger = PAWL_ID_NONE;
  guint overlapped = 0, admitted = 0;
  for (int i = 0; i < 50 && overlapped < 2; i++) {
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlDueRow));
    wait_until_due(&w, rows);
    PawlAdmission one = decide(&w, &g_array_index(rows, PawlDueRow, 0));
    PawlAdmission *batch[] = {&one};
    g_assert_true(pawl_store_admit(w.store, batch, 1, NULL));
    trigger = one.row.trigger;
    overlapped += one.overlapped;
    admitted += one.admitted;
    pawl_decision_clear(&one.decision);
  }
  g_assert_cmpuint(admitted, ==, 1);
  g_autoptr(GPtrArray) seen = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_occurrence_free);
  g_assert_true(pawl_store_occurrences(w.store, &trigger, 20, seen, NULL));
  gint64 counted = 0;
  guint ranges = 0;
  for (guint i = 0; i < seen->len; i++) {
    const PawlOccurrence *o = g_ptr_array_index(seen, i);
    if (!g_str_equal(o->outcome, "overlap")) continue;
    ranges++;
    counted += o->count;
  }
  g_assert_cmpuint(ranges, ==, 1);
  g_assert_cmpint(counted, ==, overlapped);
  world_close(&w);
}

static void publish_between_claim_and_admission_wins(void) {
  World w;
  world_open(&w, "tasks: {a: {noop: {}, triggers: {t: {every: 1s, overlap: allow}}}}");
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PawlDueRow));
  wait_until_due(&w, rows);
  PawlAdmission late = decide(&w, &g_array_index(rows, PawlDueRow, 0));
  PawlAdmission *batch[] = {&late};
  g_assert_true(pawl_store_pause(w.store, "default", "a/t", 0, "edit", NULL));
  g_assert_true(pawl_store_admit(w.store, batch, 1, NULL));
  g_assert_cmpint(late.outcome, ==, PAWL_ADMIT_RACED);
  pawl_decision_clear(&late.decision);
  world_close(&w);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/dispatch/pool_is_never_over", dispatch_pool_is_never_over);
  g_test_add_func("/dispatch/A1", dispatch_A1);
  g_test_add_func("/dispatch/A2", dispatch_A2);
  g_test_add_func("/dispatch/A11", dispatch_A11);
  g_test_add_func("/dispatch/B1", dispatch_B1);
  g_test_add_func("/dispatch/B2_B9", dispatch_B2_B9);
  g_test_add_func("/dispatch/B7", dispatch_B7);
  g_test_add_func("/dispatch/paused_pool", dispatch_paused_pool_starts_nothing);
  g_test_add_func("/dispatch/paused_task", dispatch_paused_task_waits);
  g_test_add_func("/fence/C11_C12", dispatch_C11_C12);
  g_test_add_func("/fence/start_after_cancel", start_after_cancel_is_refused);
  g_test_add_func("/finish/retry_and_cancel", a_failed_attempt_is_retried_and_a_cancelled_one_is_not);
  g_test_add_func("/recover/E9", dispatch_E9);
  g_test_add_func("/recover/lost_before_its_start", lost_before_its_start_waits_again);
  g_test_add_func("/recover/unreadable_spec", an_unreadable_spec_holds_up_nothing);
  g_test_add_func("/recover/drift", drift_is_put_aside);
  g_test_add_func("/dispatch/many_saturated_tasks", many_saturated_tasks_hide_none);
  g_test_add_func("/cancel/who_and_why", a_cancelled_run_says_who_and_why);
  g_test_add_func("/admit/once", admission_happens_once);
  g_test_add_func("/admit/overlap_skip", overlap_skip_goes_to_the_ledger_and_folds);
  g_test_add_func("/admit/raced_by_pause", publish_between_claim_and_admission_wins);
  return g_test_run();
}
