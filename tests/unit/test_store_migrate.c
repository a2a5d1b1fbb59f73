/* SPDX-License-Identifier: Apache-2.0 */
/* How a store comes into being and grows; what is refused. */
#include "store/store_private.h"
#include "store_sql.h"

#include <sys/wait.h>
#include <unistd.h>

static char *url;

static void folder_open(void) {
  fixture_folder = g_dir_make_tmp("pawl-test-XXXXXX", NULL);
  url = g_strdup_printf("sqlite:%s/pawl.db", fixture_folder);
}

static void folder_close(void) {
  g_clear_pointer(&url, g_free);
  fixture_store_close(NULL);
}

static PawlStore *open_how(PawlDbMode mode, gboolean create, GError **error) {
  PawlStoreOptions options = {.url = url, .mode = mode, .create = create, .actor = "tester"};
  return pawl_store_open(&options, error);
}

static void assert_refused(PawlDbMode mode, gboolean create, PawlError code, const char *words) {
  g_autoptr(GError) error = NULL;
  PawlStore *store = open_how(mode, create, &error);
  g_assert_null(store);
  g_assert_error(error, PAWL_ERROR, (int)code);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, words));
}

static void test_fresh(void) {
  folder_open();
  assert_refused(PAWL_DB_READ_WRITE, FALSE, PAWL_ERROR_NOT_FOUND, "`pawl up` or `pawl apply -f FILE` makes one");
  assert_refused(PAWL_DB_READ_ONLY, FALSE, PAWL_ERROR_NOT_FOUND, "`pawl up` or `pawl apply -f FILE` makes one");
  PawlStore *store = open_how(PAWL_DB_READ_WRITE, TRUE, NULL);
  g_assert_nonnull(store);
  g_assert_cmpint(pawl_store_schema_version(store), ==, peek_int("SELECT max(number) FROM migrations"));
  pawl_store_close(store);
  store = open_how(PAWL_DB_READ_ONLY, FALSE, NULL);
  g_assert_nonnull(store);
  g_autoptr(GError) error = NULL;
  g_assert_null(pawl_store_meta_get(store, "nothing", &error));
  g_assert_no_error(error);
  pawl_store_close(store);
  folder_close();
}

static void test_meta(void) {
  folder_open();
  PawlStore *store = open_how(PAWL_DB_READ_WRITE, TRUE, NULL);
  g_assert_true(pawl_store_meta_set(store, "key", "one", NULL));
  g_assert_true(pawl_store_meta_set(store, "key", "two", NULL));
  g_autofree char *value = pawl_store_meta_get(store, "key", NULL);
  g_assert_cmpstr(value, ==, "two");
  pawl_store_close(store);
  folder_close();
}

static void test_newer_and_drift(void) {
  folder_open();
  pawl_store_close(open_how(PAWL_DB_READ_WRITE, TRUE, NULL));
  poke("INSERT INTO migrations VALUES (999, 'from_the_future', 'x', 1)");
  assert_refused(PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "has schema 999");
  assert_refused(PAWL_DB_READ_ONLY, FALSE, PAWL_ERROR_CONFIG, "has schema 999");
  poke("DELETE FROM migrations WHERE number = 999; UPDATE migrations SET digest = 'deadbeef' WHERE number = 1");
  assert_refused(PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "was made by another build");
  folder_close();
}

/* A newer program's script says from which of the older ones on it serves; this program knows scripts up to its own newest. */
static void test_newer_that_serves(void) {
  folder_open();
  pawl_store_close(open_how(PAWL_DB_READ_WRITE, TRUE, NULL));
  gint mine = (gint)peek_int("SELECT max(number) FROM migrations");
  poke("INSERT INTO migrations VALUES (%d, 'tomorrow', 'x', 1)", mine + 1);
  poke("INSERT INTO meta VALUES ('schema.%d.serves', '%d')", mine + 1, mine);
  PawlStore *store = open_how(PAWL_DB_READ_WRITE, TRUE, NULL);
  g_assert_nonnull(store);
  g_assert_cmpint(pawl_store_schema_version(store), ==, mine + 1);
  pawl_store_close(store);
  poke("UPDATE meta SET value = '%d' WHERE key LIKE 'schema.%%'", mine + 1);
  assert_refused(PAWL_DB_READ_WRITE, TRUE, PAWL_ERROR_CONFIG, "and this pawl knows schemas up to");
  folder_close();
}

/* The program's own scripts and one more, as the next version would have. */
static void test_older(void) {
  folder_open();
  g_autoptr(GError) error = NULL;
  pawl_store_close(open_how(PAWL_DB_READ_WRITE, TRUE, NULL));
  PawlDbOptions options = {.url = url};
  PawlDb *db = pawl_db_open(&options, NULL);
  gsize n = 0;
  gint version = 0;
  const PawlMigration *own = pawl_db_migrations(db, &n);
  g_autofree PawlMigration *next = g_new0(PawlMigration, n + 2);
  for (gsize i = 0; i < n; i++) next[i] = own[i];
  next[n] = (PawlMigration){own[n - 1].number + 1, "next", "CREATE TABLE extra (x INTEGER); INSERT INTO extra VALUES (7);"};
  next[n + 1] = (PawlMigration){own[n - 1].number + 2, "broken", "CREATE TABLE broken (x INTEGER); INSERT INTO nowhere VALUES (1);"};
  g_assert_false(pawl_store_migrate(db, next, n + 1, PAWL_MIGRATE_NEVER, &version, &error));
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG);
  g_clear_error(&error);
  g_assert_false(pawl_store_migrate(db, next, n + 2, PAWL_MIGRATE_UPGRADE, &version, &error));
  g_test_message("%s", error->message);
  g_clear_error(&error);
  assert_peek("0", "SELECT count(*) FROM sqlite_master WHERE name IN ('extra', 'broken')"); /* all or nothing */
  pawl_store_migrate(db, next, n + 1, PAWL_MIGRATE_UPGRADE, &version, &error);
  g_assert_no_error(error);
  g_assert_cmpint(version, ==, own[n - 1].number + 1);
  assert_peek("7", "SELECT x FROM extra");
  g_assert_true(pawl_store_migrate(db, next, n + 1, PAWL_MIGRATE_UPGRADE, &version, NULL)); /* once */
  assert_peek("7", "SELECT x FROM extra");
  pawl_db_close(db);
  assert_refused(PAWL_DB_READ_WRITE, FALSE, PAWL_ERROR_CONFIG, "use the newer pawl");
  folder_close();
}

/* Processes that open a store which does not exist, at once: each finds one schema. */
static void test_race(void) {
  enum { PROCESSES = 6, ROUNDS = 5 };
  for (gint round = 0; round < ROUNDS; round++) {
    folder_open();
    int gate[2];
    pid_t pids[PROCESSES];
    g_assert_cmpint(pipe(gate), ==, 0);
    for (gint i = 0; i < PROCESSES; i++) {
      pids[i] = fork();
      if (pids[i] == 0) {
        char byte;
        GError *error = NULL;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 0) _exit(3); /* all begin when the writing end is closed */
        PawlStore *store = open_how(PAWL_DB_READ_WRITE, TRUE, &error);
        if (store == NULL) fprintf(stderr, "# %s\n", error->message);
        gboolean ok = store != NULL && pawl_store_meta_set(store, "k", "v", NULL);
        pawl_store_close(store);
        g_clear_error(&error);
        _exit(ok ? 0 : 1);
      }
    }
    close(gate[0]);
    close(gate[1]);
    for (gint i = 0; i < PROCESSES; i++) {
      int status;
      g_assert_cmpint(waitpid(pids[i], &status, 0), ==, pids[i]);
      g_assert_cmpint(status, ==, 0);
    }
    g_assert_cmpint(peek_int("SELECT count(*) FROM migrations"), ==, peek_int("SELECT max(number) FROM migrations"));
    folder_close();
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/store/migrate/fresh", test_fresh);
  g_test_add_func("/store/migrate/meta", test_meta);
  g_test_add_func("/store/migrate/newer_and_drift", test_newer_and_drift);
  g_test_add_func("/store/migrate/newer_that_serves", test_newer_that_serves);
  g_test_add_func("/store/migrate/older", test_older);
  g_test_add_func("/store/migrate/race", test_race);
  return g_test_run();
}
