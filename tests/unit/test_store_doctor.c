/* SPDX-License-Identifier: Apache-2.0 */
/* doctor finds what is wrong, names it, and says nothing of what is right. */
#include "store_drive.h"

#define LEASE(n)                                                                                                                                                 \
  "INSERT INTO leased SELECT randomblob(16), 1, t.id, p.id, 1, 0, 1, 1, 0, NULL, 1, randomblob(16), 'x', t.updated_at_ms + 5, 9999999999999, NULL, NULL, NULL, " \
  "NULL FROM tasks t, pools p, (SELECT 1 UNION SELECT 2 UNION SELECT " n ") WHERE p.name = 'io'"

static const struct {
  const char *name, *sql, *wrong;
} rows[] = {
  {"healthy", "SELECT 1", ""},
  {"two runs for one instant",
    "INSERT INTO runs SELECT randomblob(16), project_id, task_id, 1, trigger_id, 1, 'schedule', 60000, 1, 0, NULL, NULL, NULL FROM trigger_schedules;"
    "INSERT INTO attempts (run_id, attempt, state, last, lease_version, finished_at_ms) SELECT id, 1, 'succeeded', 1, 1, 1 FROM runs",
    "one-run"},
  {"a lost occurrence", "UPDATE trigger_revisions SET created_at_ms = created_at_ms - 7200000", "accounted"},
  {"a lost run", "INSERT INTO runs SELECT randomblob(16), project_id, id, 1, NULL, NULL, 'manual', NULL, 1, 0, NULL, NULL, NULL FROM tasks",
    "drift"},
  {"a hot row without a run",
    "INSERT INTO ready SELECT randomblob(16), 1, t.id, p.id, 1, 0, 0, 0, 0, NULL, 1 FROM tasks t, pools p WHERE p.name = 'io'", "drift"},
  {"put aside",
    "INSERT INTO runs SELECT x'00000000000070008000000000000001', project_id, id, 1, NULL, NULL, 'manual', NULL, 1, 0, NULL, NULL, NULL FROM tasks;"
    "INSERT INTO parked SELECT r.id, 1, r.task_id, p.id, 1, 0, 0, 0, 0, NULL, 1, 'manual', 'drift', NULL FROM runs r, pools p WHERE p.name = 'io'",
    "aside"},
  {"a pool that is over", "UPDATE tasks SET serial = 0; " LEASE("3"), "drift pools"},
  {"a pool that shrank", "UPDATE tasks SET serial = 0; UPDATE pools SET updated_at_ms = 9999999999999; " LEASE("3"), "drift"},
  {"two at once", "UPDATE pools SET slots = -1; " LEASE("3"), "drift limits"},
  {"the clock went back", "UPDATE trigger_schedules SET updated_at_ms = 9999999999999", "clock"},
  {"a missing schedule", "PRAGMA foreign_keys = OFF; DELETE FROM trigger_schedules", "references"},
};

static void test_rows(void) {
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autoptr(GError) error = NULL;
    PawlStore *store = fixture_store();
    g_autoptr(GPtrArray) checks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_check_free);
    g_autoptr(GString) wrong = g_string_new(NULL);
    fixture_apply(store, "pools: {io: {slots: 2}}\ntasks: {a: {noop: {}, pool: io, triggers: {t: {every: 1h}}}}");
    g_test_message("%s", rows[i].name);
    poke("%s", rows[i].sql);
    pawl_store_doctor(store, checks, &error);
    g_assert_no_error(error);
    for (guint j = 0; j < checks->len; j++) {
      const PawlCheck *check = g_ptr_array_index(checks, j);
      g_assert_true(check->ok == (check->fix == NULL));
      if (check->ok) continue;
      g_test_message("%s: %s", check->name, check->text);
      g_string_append_printf(wrong, "%s%s", wrong->len > 0 ? " " : "", check->name);
    }
    g_assert_cmpstr(wrong->str, ==, rows[i].wrong);
    fixture_store_close(store);
  }
}

/* Asking changes nothing, and needs no right to write. */
static void test_read_only(void) {
  PawlStore *store = fixture_store();
  fixture_apply(store, "tasks: {a: {noop: {}, triggers: {t: {every: 1h}}}}");
  g_autofree char *url = g_strdup_printf("sqlite:%s/pawl.db", fixture_folder);
  PawlStoreOptions options = {.url = url, .mode = PAWL_DB_READ_ONLY, .actor = "tester"};
  PawlStore *reader = pawl_store_open(&options, NULL);
  g_autoptr(GPtrArray) checks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_check_free);
  g_autoptr(GPtrArray) tasks = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_assert_nonnull(reader);
  g_assert_true(pawl_store_doctor(reader, checks, NULL));
  g_assert_true(pawl_store_tasks(reader, NULL, NULL, tasks, NULL));
  PawlStatus *status = pawl_store_status(reader, NULL);
  g_assert_nonnull(status);
  pawl_status_free(status);
  g_assert_false(pawl_store_pause(reader, NULL, "a", 0, NULL, NULL));
  pawl_store_close(reader);
  fixture_store_close(store);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/doctor/rows", test_rows);
  g_test_add_func("/store/doctor/read_only", test_read_only);
  return g_test_run();
}
