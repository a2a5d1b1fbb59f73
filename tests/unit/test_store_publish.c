/* SPDX-License-Identifier: Apache-2.0 */
/* apply, diff and delete: what is written, what stays, and that no occurrence is lost or run twice by it. */
#include "store_drive.h"

#include "base/clock.h"
#include "store/schedules.h"

#define MARKED(mark_) ((PawlApplyOptions){.owner_mark = mark_, .prune = TRUE})

#define ONE_TASK                                                                                                                           \
  "tasks:\n"                                                                                                                               \
  "  a:\n"                                                                                                                                 \
  "    noop: {}\n"                                                                                                                         \
  "    triggers:\n"                                                                                                                        \
  "      t: {cron: \"* * * * *\", overlap: allow}\n"

static void assert_apply(PawlStore *store, const char *yaml, const char *expected) {
  PawlApplyOptions diff = MARKED("test"), apply = MARKED("test");
  diff.dry_run = TRUE;
  g_autofree char *before =
    peek("SELECT (SELECT count(*) FROM events), (SELECT sum(state_version) FROM trigger_schedules), (SELECT count(*) FROM tasks)");
  g_autofree char *promised = apply_text(store, yaml, &diff);
  assert_peek(
    before, "SELECT (SELECT count(*) FROM events), (SELECT sum(state_version) FROM trigger_schedules), (SELECT count(*) FROM tasks)");
  g_autofree char *done = apply_text(store, yaml, &apply);
  g_assert_cmpstr(promised, ==, done);
  g_assert_cmpstr(done, ==, expected);
}

static void assert_equal_writes_nothing(PawlStore *store, const char *yaml) {
  const char *sql =
    "SELECT (SELECT count(*) FROM events), (SELECT sum(state_version + claim_version) FROM trigger_schedules), (SELECT sum(updated_at_ms) FROM tasks)";
  g_autofree char *before = peek("%s", sql);
  assert_apply(store, yaml, "");
  assert_peek(before, "%s", sql);
}

/* A row a step: what is applied, and what it says. Each is diffed before and applied again after. */
static const struct {
  const char *yaml, *changes;
} steps[] = {
  {ONE_TASK, "+ task a; + trigger a/t"},
  {"pools: {io: {slots: 2}}\n" ONE_TASK, "+ pool io [slots: 2]"},
  {"pools: {io: {slots: 3}}\ntasks:\n  a:\n    noop: {}\n    pool: io\n    timeout: 30m\n    triggers:\n      t: {cron: \"* * * * *\", overlap: allow}\n",
    "~ pool io [slots: 2 -> 3]; ~ task a [pool: default -> io, timeout: none -> 30m]"},
  {"pools: {io: {slots: 3}}\ntasks:\n  a:\n    noop: {}\n    pool: io\n    timeout: 30m\n    triggers:\n      t: {cron: \"0 2 * * *\", overlap: allow}\n",
    "~ trigger a/t [cron: * * * * * -> 0 2 * * *]"},
  {"pools: {io: {slots: 3}}\ntasks:\n  a:\n    noop: {}\n    pool: io\n    timeout: 30m\n    env: {KEY: hidden}\n    triggers:\n      u: {every: 15m}\n",
    "~ task a [env.KEY: added]; + trigger a/u; - trigger a/t"},
  {"tasks:\n  b:\n    noop: {}\n", "+ task b; - task a; - trigger a/u; - pool io"},
  {ONE_TASK, "+ task a; + trigger a/t; - task b"},
};

static void test_steps(void) {
  PawlStore *store = fixture_store();
  for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_test_message("step %" G_GSIZE_FORMAT, i + 1);
    assert_apply(store, steps[i].yaml, steps[i].changes);
    assert_equal_writes_nothing(store, steps[i].yaml);
  }
  assert_peek("1", "SELECT count(*) FROM tasks WHERE name = 'a'");
  assert_peek("1", "SELECT count(*) FROM triggers WHERE name = 't'");
  assert_peek("default|-1", "SELECT name, slots FROM pools WHERE state = 'active'");
  assert_peek("1|1|1",
    "SELECT armed, next_fire_at_ms > last_scheduled_at_ms, due_at_ms = next_fire_at_ms FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id WHERE g.state = 'active'");
  fixture_store_close(store);
}

static const struct {
  const char *first_mark, *first, *mark, *yaml, *result;
  gboolean adopt;
} refusals[] = {
  {"one", ONE_TASK, "two", ONE_TASK, "conflict: owned by another file: task 'a' (of one); rename, remove it there, or apply with --adopt",
    FALSE},
  {"one", ONE_TASK, "two", ONE_TASK, "~ task a [owner: one -> two]", TRUE},
  {"one", ONE_TASK, "two", "tasks: {b: {noop: {}}}", "+ task b", FALSE},
  {"one", "pools: {io: {slots: 2}}\ntasks: {a: {noop: {}, pool: io}}", "two", "pools: {io: {slots: 2}}\ntasks: {b: {noop: {}, pool: io}}",
    "+ task b", FALSE},
  {"one", "pools: {io: {slots: 2}}\ntasks: {a: {noop: {}}}", "two", "pools: {io: {slots: 4}}\ntasks: {b: {noop: {}}}",
    "conflict: pool 'io' belongs to one, where it has 2 slots and not 4; change it there, or apply with --adopt", FALSE},
  {"one", "tasks: {a: {noop: {}}}", "one", "tasks: {a: {noop: {}, triggers: {t: {every: 1m, task_revision: 3}}}}",
    "invalid: trigger 'a/t' pins revision 3 of its task, whose newest is 1", FALSE},
};

static void test_refusals(void) {
  for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
    PawlStore *store = fixture_store();
    g_test_message("row %" G_GSIZE_FORMAT, i + 1);
    PawlApplyOptions options = MARKED(refusals[i].first_mark);
    g_autofree char *first = apply_text(store, refusals[i].first, &options);
    options = MARKED(refusals[i].mark);
    options.adopt = refusals[i].adopt;
    g_autofree char *result = apply_text(store, refusals[i].yaml, &options);
    g_assert_cmpstr(result, ==, refusals[i].result);
    fixture_store_close(store);
  }
}

/* A pool that somebody still needs stays, and who needs it is named. */
static void test_pool_in_use(void) {
  PawlStore *store = fixture_store();
  g_autoptr(GPtrArray) grants = drive_grants();
  PawlApplyOptions one = MARKED("one"), two = MARKED("two");
  drive_open(store, 8);
  g_autofree char *first = apply_text(store, "pools: {io: {slots: 1}}\ntasks: {a: {noop: {}, pool: io}}", &one);
  poke("UPDATE tasks SET owner_mark = 'two'");
  g_autofree char *used = apply_text(store, "tasks: {}", &one);
  g_assert_cmpstr(used, ==, "conflict: pool 'io' is gone from the file but still used by a");
  drive_enqueue(store, "a");
  drive_enqueue(store, "a");
  g_assert_cmpuint(drive_pull(store, 8, grants), ==, 1);
  drive_start(store, g_ptr_array_index(grants, 0));
  g_autofree char *moved = apply_text(store, "tasks: {a: {noop: {}}}", &two);
  g_assert_cmpstr(moved, ==, "~ task a [pool: io -> default]");
  assert_peek("default io",
    "SELECT p.name FROM (SELECT pool_id FROM ready UNION SELECT pool_id FROM leased) h JOIN pools p ON p.id = h.pool_id ORDER BY 1");
  g_autofree char *refused = apply_text(store, "tasks: {}", &one);
  g_assert_cmpstr(
    refused, ==, "conflict: pool 'io' is gone from the file but has unfinished runs of a; wait for them or cancel them first");
  one.starting = TRUE;
  g_autofree char *drains = apply_text(store, "tasks: {}", &one);
  g_assert_cmpstr(drains, ==, "! pool io [gone from the file; it is removed once its unfinished runs of a have ended]");
  drive_finish(store, g_ptr_array_index(grants, 0), PAWL_EVENT_SUCCEED, 0);
  g_autofree char *gone = apply_text(store, "tasks: {}", &one);
  g_assert_cmpstr(gone, ==, "- pool io");
  fixture_store_close(store);
}

/* Waiting runs of a task that goes with its pool are cancelled first; those that a pinned revision puts there stay. */
static void test_pool_goes_with_task(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "pools: {io: {slots: 1}}\ntasks: {a: {noop: {}, pool: io}, b: {noop: {}, pool: io, triggers: {t: {every: 1m}}}}");
  drive_enqueue(store, "a");
  drive_enqueue(store, "b");
  assert_apply(store, "pools: {io: {slots: 1}}\ntasks: {b: {noop: {}, triggers: {t: {every: 1m, task_revision: 1}}}}",
    "~ task b [pool: io -> default]; ~ trigger b/t [task_revision: none -> 1]; - task a");
  assert_peek("io", "SELECT p.name FROM ready r JOIN pools p ON p.id = r.pool_id");
  PawlApplyOptions options = MARKED("test");
  g_autofree char *pinned = apply_text(store, "tasks: {b: {noop: {}, triggers: {t: {every: 1m, task_revision: 1}}}}", &options);
  g_assert_cmpstr(pinned, ==, "conflict: pool 'io' is gone from the file but still used by b");
  assert_apply(store, "tasks: {}", "- task b; - trigger b/t; - pool io");
  assert_peek("0|2", "SELECT (SELECT count(*) FROM ready), (SELECT count(*) FROM attempts WHERE state = 'cancelled')");
  fixture_store_close(store);
}

static void test_overrides_stay(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "pools: {io: {slots: 2}}\n" ONE_TASK);
  g_assert_true(pawl_store_pool_override(store, NULL, "io", 7, NULL));
  g_assert_true(pawl_store_pause(store, NULL, "a", 0, "moving house", NULL));
  g_assert_true(pawl_store_pause(store, NULL, "a/t", 0, NULL, NULL));
  PawlApplyOptions options = MARKED("test");
  g_autofree char *told = apply_text(store, "pools: {io: {slots: 3}}\n" ONE_TASK, &options);
  g_assert_nonnull(strstr(told, "! pool io [slots: 7, set at run time, stays (the file says 3)]"));
  g_assert_nonnull(strstr(told, "! task a [stays paused until resumed (since "));
  g_assert_nonnull(strstr(told, "by tester: moving house)]"));
  g_assert_nonnull(strstr(told, "! trigger a/t [stays paused"));
  assert_peek("7|3", "SELECT slots_override, slots FROM pools WHERE name = 'io'");
  g_assert_true(pawl_store_pool_override(store, NULL, "io", G_MININT, NULL));
  assert_peek("-", "SELECT slots_override FROM pools WHERE name = 'io'");
  g_autoptr(GError) error = NULL;
  g_assert_false(pawl_store_pool_override(store, NULL, "ip", 1, &error));
  g_assert_cmpstr(error->message, ==, "there is no pool 'ip'; did you mean 'io'?");
  fixture_store_close(store);
}

/* The cursor is moved into the past, then something is edited. */
static const struct {
  const char *yaml, *outcome; /* of the ledger; NULL: the cursor stays */
} cursor_edits[] = {
  {"tasks: {a: {noop: {}, timeout: 5m, triggers: {t: {every: 1m}}}}", NULL},
  {"tasks: {a: {noop: {}, triggers: {t: {every: 1m, misfire: skip}}}}", NULL},
  {"tasks: {a: {noop: {}, triggers: {t: {every: 1m, jitter: 10s}}}}", NULL},
  {"tasks: {a: {noop: {}, triggers: {t: {every: 2m}}}}", "superseded"},
  {"tasks: {a: {noop: {}, triggers: {t: {cron: \"0 2 * * *\"}}}}", "superseded"},
  {"tasks: {a: {noop: {}, triggers: {t: {every: 1m, until: \"2890-01-01T00:00:00Z\"}}}}", "superseded"},
  {"tasks: {a: {noop: {}, triggers: {t: {every: 1m, enabled: false}}}}", "disabled"},
  {"tasks: {a: {noop: {}}}", "archived"},
  {"tasks: {b: {noop: {}}}", "archived"},
};

/* Each minute of the range is counted, and the range ends with the last minute before it was recorded. */
#define COUNT_IS_RIGHT "count = (to_at_ms - from_at_ms) / 60000 + 1, to_at_ms BETWEEN recorded_at_ms - 61000 AND recorded_at_ms"

static void test_cursor(void) {
  for (gsize i = 0; i < G_N_ELEMENTS(cursor_edits); i++) {
    PawlStore *store = fixture_store();
    g_test_message("row %" G_GSIZE_FORMAT, i + 1);
    fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
    gint64 cursor = peek_int("SELECT next_fire_at_ms FROM trigger_schedules") - 10 * PAWL_MINUTE_MS;
    poke("UPDATE trigger_schedules SET next_fire_at_ms = %" G_GINT64_FORMAT ", due_at_ms = %" G_GINT64_FORMAT, cursor, cursor);
    gint64 versions = peek_int("SELECT state_version + claim_version FROM trigger_schedules");
    fixture_apply(store, cursor_edits[i].yaml);
    g_assert_cmpint(peek_int("SELECT state_version + claim_version FROM trigger_schedules"), ==, versions + 2);
    if (cursor_edits[i].outcome == NULL) {
      g_assert_cmpint(peek_int("SELECT next_fire_at_ms FROM trigger_schedules"), ==, cursor);
      assert_peek("0", "SELECT count(*) FROM ledger");
    } else {
      g_autofree char *expected = g_strdup_printf("%s|1|%" G_GINT64_FORMAT "|1|1", cursor_edits[i].outcome, cursor);
      assert_peek(expected, "SELECT outcome, count_exact, from_at_ms, " COUNT_IS_RIGHT " FROM ledger");
      assert_peek("1",
        "SELECT s.last_scheduled_at_ms = l.to_at_ms AND coalesce(s.next_fire_at_ms > l.to_at_ms, s.armed = 0) FROM trigger_schedules s JOIN ledger l");
    }
    fixture_store_close(store);
  }
}

/* A disabled trigger keeps its cursor; what it passed by is said when it is enabled again. */
static void test_disabled(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m, enabled: false}}}}");
  assert_peek("0|1", "SELECT armed, next_fire_at_ms IS NOT NULL FROM trigger_schedules");
  poke("UPDATE trigger_schedules SET next_fire_at_ms = next_fire_at_ms - 3600000, due_at_ms = due_at_ms - 3600000");
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
  assert_peek("disabled|1|1|1", "SELECT outcome, count_exact, " COUNT_IS_RIGHT " FROM ledger");
  assert_peek("1", "SELECT armed FROM trigger_schedules");
  fixture_store_close(store);
}

static void test_task_columns(void) {
  static const struct {
    const char *yaml, *columns;
  } rows[] = {
    {"tasks: {a: {noop: {}}}", "1|0|0"},
    {"tasks: {a: {noop: {}, max_active: 3}}", "2|3|0"},
    {"tasks: {a: {noop: {}, max_active: 3, triggers: {t: {every: 1m, overlap: allow}}}}", "2|3|0"},
    {"tasks: {a: {noop: {}, max_active: 3, triggers: {t: {every: 1m, overlap: allow}, u: {every: 1m}}}}", "2|3|1"},
    {"tasks: {a: {noop: {}, max_active: 3, triggers: {t: {every: 1m, overlap: allow}, u: {every: 1m, overlap: {queue: 2}}}}}", "2|3|1"},
    {"tasks: {a: {noop: {}, triggers: {t: {every: 1m, overlap: allow}, u: {every: 1m, overlap: allow, task_revision: 2}}}}", "3|0|0"},
  };
  PawlStore *store = fixture_store();
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_test_message("row %" G_GSIZE_FORMAT, i + 1);
    fixture_apply(store, rows[i].yaml);
    assert_peek(rows[i].columns, "SELECT revision, max_active, serial FROM tasks");
  }
  assert_peek("t|3 u|2", "SELECT g.name, s.task_revision FROM trigger_schedules s JOIN triggers g ON g.id = s.trigger_id ORDER BY 1");
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m, overlap: skip}, u: {every: 1m, overlap: allow}}}}");
  guint cancelled;
  assert_peek("1", "SELECT serial FROM tasks");
  g_assert_true(pawl_store_delete(store, NULL, "a/t", &cancelled, NULL));
  assert_peek("0", "SELECT serial FROM tasks");
  fixture_store_close(store);
}

/* What never fires is kept, disarmed and shown as such. */
static void test_exhausted(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {at: \"2001-01-01T00:00:00Z\"}, r: {cron: \"@reboot\"}}}}");
  assert_peek("0|- 0|-", "SELECT armed, next_fire_at_ms FROM trigger_schedules");
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_assert_true(pawl_store_tasks(store, NULL, "a", tasks, NULL));
  const PawlTaskRow *task = g_ptr_array_index(tasks, 0);
  g_assert_cmpstr(((PawlTriggerRow *)g_ptr_array_index(task->triggers, 0))->state, ==, "active");
  g_assert_cmpstr(((PawlTriggerRow *)g_ptr_array_index(task->triggers, 1))->state, ==, "exhausted");
  fixture_store_close(store);
}

static guint admit_due(PawlStore *store) {
  g_autoptr(GError) error = NULL;
  g_autoptr(GArray) due = g_array_new(FALSE, FALSE, sizeof(PawlDueRow));
  gint64 now_ms;
  guint admitted = 0;
  g_assert_true(pawl_store_claim(store, 16, due, &now_ms, NULL));
  for (guint i = 0; i < due->len; i++) {
    PawlAdmission admission = {.row = g_array_index(due, PawlDueRow, i)}, *batch = &admission;
    const PawlTriggerSpec *spec = pawl_store_trigger_spec(store, &admission.row.trigger, admission.row.trigger_revision, NULL);
    PawlDecideInput input = {admission.row.cursor_ms, admission.row.acquired_at_ms, admission.row.first_claimed_ms, admission.row.made_up};
    pawl_decide(&spec->timing, &admission.row.trigger, &spec->misfire, &input, &admission.decision);
    pawl_store_admit(store, &batch, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(admission.outcome, ==, PAWL_ADMIT_DONE);
    admitted += admission.admitted;
    pawl_decision_clear(&admission.decision);
  }
  return admitted;
}

/* G1: whatever is done to the trigger, an instant that ran does not run again, even where the cursor is put back by force. */
static void test_G1_through_edits(void) {
  static const char *const acts[] = {"delete", "edit", "task", "pause", "force"};
  PawlStore *store = fixture_store();
  const char *yaml = "tasks: {a: {noop: {}, triggers: {t: {every: 1m, overlap: allow}}}}";
  fixture_apply(store, yaml);
  g_autofree char *id = peek("SELECT hex(id) FROM triggers");
  poke("UPDATE trigger_schedules SET next_fire_at_ms = next_fire_at_ms - 60000, due_at_ms = due_at_ms - 60000");
  gint64 nominal = peek_int("SELECT next_fire_at_ms FROM trigger_schedules");
  g_assert_cmpuint(admit_due(store), >=, 1);
  for (gsize i = 0; i < G_N_ELEMENTS(acts); i++) {
    guint cancelled;
    g_test_message("%s", acts[i]);
    if (i == 0) {
      g_assert_true(pawl_store_delete(store, NULL, "a", &cancelled, NULL));
      g_assert_cmpuint(cancelled, >=, 1);
      fixture_apply(store, yaml);
    } else if (i == 1) {
      fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 30s, overlap: allow}}}}");
      fixture_apply(store, yaml);
    } else if (i == 2) {
      fixture_apply(store, "tasks: {a: {noop: {}, timeout: 1m, triggers: {t: {every: 1m, overlap: allow}}}}");
    } else if (i == 3) {
      g_assert_true(pawl_store_pause(store, NULL, "a", 0, NULL, NULL));
      g_assert_true(pawl_store_resume(store, NULL, "a", TRUE, NULL));
    } else {
      poke("UPDATE trigger_schedules SET next_fire_at_ms = %" G_GINT64_FORMAT ", due_at_ms = %" G_GINT64_FORMAT
           ", last_scheduled_at_ms = 0",
        nominal, nominal);
    }
    admit_due(store);
    g_autofree char *expected = g_strdup_printf("%s|1|1", id);
    assert_peek(expected,
      "SELECT hex(g.id), (SELECT count(*) FROM runs WHERE nominal_at_ms = %" G_GINT64_FORMAT "), s.next_fire_at_ms > %" G_GINT64_FORMAT
      " FROM triggers g JOIN trigger_schedules s ON s.trigger_id = g.id",
      nominal, nominal);
  }
  g_autoptr(GPtrArray) checks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_check_free);
  g_assert_true(pawl_store_doctor(store, checks, NULL));
  for (guint i = 0; i < checks->len; i++) {
    const PawlCheck *check = g_ptr_array_index(checks, i);
    g_test_message("%s: %s", check->name, check->text);
    g_assert_true(check->ok);
  }
  fixture_store_close(store);
}

static gpointer settle_later(gpointer data) {
  g_usleep(150000); /* whether it comes before or within the wait, the occurrence is settled in time */
  PawlStore *store = fixture_reopen();
  admit_due(store);
  pawl_store_close(store);
  return NULL;
}

/* While a scheduler runs, an occurrence that is due in the moment of the edit is left to it for two seconds. */
static void test_wait(void) {
  static const struct {
    gboolean held, starting, settles;
    const char *ledger;
    gint64 least_ms;
  } rows[] = {{TRUE, FALSE, TRUE, "", 0}, {TRUE, FALSE, FALSE, "superseded", 1900}, {TRUE, TRUE, FALSE, "superseded", 0},
    {FALSE, FALSE, FALSE, "superseded", 0}};
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    PawlStore *store = fixture_store();
    PawlApplyOptions options = MARKED("test");
    g_test_message("row %" G_GSIZE_FORMAT, i + 1);
    fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1h, misfire_grace: 2h}}}}");
    poke("UPDATE trigger_schedules SET next_fire_at_ms = next_fire_at_ms - 3600000, due_at_ms = due_at_ms - 3600000");
    PawlHold *hold = rows[i].held ? pawl_db_hold(pawl_store_db(store), NULL) : NULL;
    GThread *settler = rows[i].settles ? g_thread_new("settler", settle_later, NULL) : NULL;
    options.starting = rows[i].starting;
    gint64 begun_ms = pawl_clock_mono_ms();
    g_autofree char *told = apply_text(store, "tasks: {a: {noop: {}, triggers: {t: {every: 2h, misfire_grace: 2h}}}}", &options);
    gint64 took_ms = pawl_clock_mono_ms() - begun_ms;
    g_assert_cmpint(took_ms, >=, rows[i].least_ms);
    if (rows[i].least_ms == 0) g_assert_cmpint(took_ms, <, 1900);
    if (settler != NULL) g_thread_join(settler);
    assert_peek(rows[i].ledger, "SELECT outcome FROM ledger");
    assert_peek(rows[i].settles ? "1" : "0", "SELECT count(*) FROM runs");
    if (hold != NULL) pawl_hold_release(hold);
    fixture_store_close(store);
  }
}

/* The cursor is never before the high-water mark, even when the clock went back. */
static void test_high_water(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1m}}}}");
  gint64 ahead = peek_int("SELECT next_fire_at_ms FROM trigger_schedules") + 60 * PAWL_MINUTE_MS;
  poke("UPDATE trigger_schedules SET last_scheduled_at_ms = %" G_GINT64_FORMAT, ahead);
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 30s}}}}");
  g_assert_cmpint(peek_int("SELECT next_fire_at_ms FROM trigger_schedules"), ==, ahead + 30 * PAWL_SECOND_MS);
  fixture_store_close(store);
}

static char *many_tasks(guint n, const char *timing) {
  GString *yaml = g_string_new("tasks:\n");
  for (guint i = 0; i < n; i++) g_string_append_printf(yaml, "  t%05u: {noop: {}, triggers: {x: {%s}}}\n", i, timing);
  return g_string_free(yaml, FALSE);
}

static void test_ten_thousand(void) {
  static const struct { const char *timing, *what; } rounds[] = {{"every: 15m", "new"}, {"every: 15m", "same"}, {"every: 20m", "edited"}};
  PawlStore *store = fixture_store();
  PawlApplyOptions options = MARKED("test");
  for (gsize i = 0; i < G_N_ELEMENTS(rounds); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *yaml = many_tasks(10000, rounds[i].timing);
    g_autoptr(PawlBundle) bundle = bundle_of(yaml);
    g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
    gint64 begun_ms = pawl_clock_mono_ms();
    g_assert_true(pawl_store_apply(store, bundle, &options, changes, &error));
    g_test_message("10,000 tasks, %s: %" G_GINT64_FORMAT " ms", rounds[i].what, pawl_clock_mono_ms() - begun_ms);
    g_assert_cmpint(pawl_clock_mono_ms() - begun_ms, <, 20000); /* far above what it takes, for slow machines and sanitizers */
    g_assert_cmpuint(changes->len, ==, 20000);
  }
  assert_peek("10000|10000", "SELECT count(*), sum(armed) FROM trigger_schedules");
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  gint64 begun_ms = pawl_clock_mono_ms();
  g_assert_true(pawl_store_tasks(store, NULL, NULL, tasks, NULL));
  g_test_message("listed in %" G_GINT64_FORMAT " ms", pawl_clock_mono_ms() - begun_ms);
  g_assert_cmpuint(tasks->len, ==, 10000);
  begun_ms = pawl_clock_mono_ms();
  fixture_apply(store, "tasks: {}");
  g_test_message("removed in %" G_GINT64_FORMAT " ms", pawl_clock_mono_ms() - begun_ms);
  assert_peek("0", "SELECT count(*) FROM tasks WHERE state = 'active'");
  fixture_store_close(store);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/publish/steps", test_steps);
  g_test_add_func("/store/publish/refusals", test_refusals);
  g_test_add_func("/store/publish/pool_in_use", test_pool_in_use);
  g_test_add_func("/store/publish/pool_goes_with_task", test_pool_goes_with_task);
  g_test_add_func("/store/publish/overrides_stay", test_overrides_stay);
  g_test_add_func("/store/publish/cursor", test_cursor);
  g_test_add_func("/store/publish/disabled", test_disabled);
  g_test_add_func("/store/publish/task_columns", test_task_columns);
  g_test_add_func("/store/publish/exhausted", test_exhausted);
  g_test_add_func("/store/publish/G1_through_edits", test_G1_through_edits);
  g_test_add_func("/store/publish/wait", test_wait);
  g_test_add_func("/store/publish/high_water", test_high_water);
  g_test_add_func("/store/publish/ten_thousand", test_ten_thousand);
  return g_test_run();
}
