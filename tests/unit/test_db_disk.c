/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that is full or fails: what the error says, and that afterwards the store holds exactly what was acknowledged. */
#include "fault_vfs.h"
#include "test_db.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

static gint64 count(PawlDb *db) { return read_one(db, PAWL_SQL_STEP_COUNT, PAWL_NO_PARAMS); }

static gboolean add(PawlDb *db, gint64 step, gsize bytes, GError **error) {
  g_autofree char *blob = g_malloc0(bytes);
  return pawl_db_begin(db, PAWL_TX_WRITE, error) &&
         pawl_db_exec(db, PAWL_SQL_STEP_ADD, NULL, error, PAWL_ROW(PAWL_INT(step), PAWL_INT(0), pawl_blob(blob, bytes))) &&
         pawl_db_commit(db, error);
}

/* Fills the store until it fails, which must be UNAVAILABLE and say what to do; then it must work again once there is room. */
static void fill(PawlDb *db, void (*make_room)(gpointer), gpointer data, const char *folder) {
  g_autoptr(GError) error = NULL;
  gint64 stored = 0;
  while (stored < 1000 && add(db, stored, 100000, &error)) stored++;
  pawl_db_rollback(db);
  g_test_message("after %d steps: %s", (int)stored, error->message);
  g_assert_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE);
  g_assert_nonnull(strstr(error->message, folder));
  g_assert_cmpint(count(db), ==, stored);
  g_clear_error(&error);
  g_assert_false(add(db, 5000, 100000, &error));
  pawl_db_rollback(db);
  g_clear_error(&error);
  make_room(data);
  g_assert_true(add(db, 6000, 1000, &error));
  g_assert_no_error(error);
  g_assert_cmpint(count(db), ==, stored + 1);
}

static void remove_file(gpointer path) { g_unlink(path); }

static void test_full_tmpfs(Place *place, gconstpointer data) {
  g_autofree char *mounted = g_build_filename(place->folder, "small", NULL);
  g_autofree char *ballast = g_build_filename(mounted, "ballast", NULL);
  g_autofree char *url = g_strconcat("sqlite:", mounted, "/pawl.db", NULL);
  g_autofree char *fix = g_strconcat("free some space in ", mounted, NULL);
  g_assert_cmpint(g_mkdir(mounted, 0700), ==, 0);
  if (mount("none", mounted, "tmpfs", 0, "size=4m") != 0) {
    g_autofree char *why = g_strdup_printf("cannot mount a small tmpfs: %s", g_strerror(errno));
    g_test_skip(why);
    return;
  }
  g_autofree char *text = g_malloc0(1 << 20);
  g_assert_true(g_file_set_contents(ballast, text, 1 << 20, NULL));
  PawlDb *db = open_made(url);
  fill(db, remove_file, ballast, fix);
  pawl_db_close(db);
  g_assert_cmpint(umount(mounted), ==, 0);
}

static void raise_limit(gpointer limit) { setrlimit(RLIMIT_FSIZE, limit); }

static void test_file_limit(Place *place, gconstpointer data) {
  struct rlimit before, small;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 3 << 20;
  PawlDb *db = open_made(place->url);
  signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  fill(db, raise_limit, &before, place->folder);
  pawl_db_close(db);
}

/* ---- errors at every operation ---- */

/* Each step is a transaction of three rows; every third is a single exec instead. `acknowledged[i]`: 1 stored, 0 definitely not, -1 not known. */
static void run_steps(PawlDb *db, int n, signed char *acknowledged) {
  for (int i = 0; i < n; i++) {
    g_autoptr(GError) error = NULL;
    char bytes[3000];
    memset(bytes, i, sizeof bytes);
    gboolean ok;
    if (i % 3 == 0) {
      ok = pawl_db_exec(db, PAWL_SQL_STEP_ADD, NULL, &error, PAWL_ROW(PAWL_INT(i), PAWL_INT(0), pawl_blob(bytes, sizeof bytes)));
    } else {
      ok = pawl_db_begin(db, PAWL_TX_WRITE, &error);
      for (int part = 0; ok && part < 3; part++)
        ok = pawl_db_exec(db, PAWL_SQL_STEP_ADD, NULL, &error, PAWL_ROW(PAWL_INT(i), PAWL_INT(part), pawl_blob(bytes, sizeof bytes)));
      ok = ok && pawl_db_commit(db, &error);
      pawl_db_rollback(db);
    }
    g_assert_false(pawl_db_in_transaction(db));
    acknowledged[i] = ok ? 1 : g_error_matches(error, PAWL_ERROR, PAWL_ERROR_AMBIGUOUS) ? -1 : 0;
    if (!ok && acknowledged[i] == 0) g_assert_error(error, PAWL_ERROR, PAWL_ERROR_UNAVAILABLE);
  }
}

/* The store holds the steps that were acknowledged, whole, none of the others, and of the unknown ones all or nothing. */
static void check_steps(PawlDb *db, int n, const signed char *acknowledged) {
  g_autoptr(GError) error = NULL;
  g_autofree int *parts = g_new0(int, n);
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_STEP_LIST, &error, PAWL_NO_PARAMS);
  while (pawl_rows_next(rows, &error)) {
    gsize bytes;
    const char *blob = pawl_rows_blob(rows, 2, &bytes);
    gint64 step = pawl_rows_int(rows, 0);
    g_assert_true(bytes == 3000 && blob[0] == (char)step && blob[2999] == (char)step);
    parts[step]++;
  }
  pawl_rows_close(rows);
  g_assert_no_error(error);
  for (int i = 0; i < n; i++) {
    int whole = i % 3 == 0 ? 1 : 3;
    g_assert_true(parts[i] == whole || parts[i] == 0);
    if (acknowledged[i] >= 0) g_assert_cmpint(parts[i], ==, acknowledged[i] * whole);
  }
}

#define STEPS 12

/* Errors at the n-th write or sync; then the power is cut with everything that was written surviving by chance, and the store is opened again. */
static void one_error(Place *place, FaultVfsPlan plan, guint *ret_unknown) {
  g_autofree char *url = g_strdup_printf("%s-%d-%d-%u-%u-%u", place->url, plan.kind, plan.ops, plan.at, plan.times, plan.seed);
  signed char acknowledged[STEPS];
  PawlDb *db = open_made(url);
  fault_vfs_arm(&plan);
  run_steps(db, STEPS, acknowledged);
  fault_vfs_arm(NULL);
  check_steps(db, STEPS, acknowledged);
  fault_vfs_cut(plan.seed);
  pawl_db_close(db);
  fault_vfs_power_on();
  db = open_again(url);
  check_steps(db, STEPS, acknowledged);
  pawl_db_close(db);
  for (int i = 0; i < STEPS; i++) *ret_unknown += acknowledged[i] < 0;
  remove_tree(place->folder);
  g_mkdir(place->folder, 0700);
}

static void test_errors_once(Place *place, gconstpointer data) {
  guint unknown = 0, runs = 0;
  fault_vfs_install();
  for (FaultVfsKind kind = FAULT_VFS_IOERR; kind <= FAULT_VFS_FULL; kind++)
    for (FaultVfsOps ops = FAULT_VFS_WRITES; ops <= (kind == FAULT_VFS_IOERR ? FAULT_VFS_SYNCS : FAULT_VFS_WRITES); ops++)
      for (guint at = 1; at <= (ops == FAULT_VFS_WRITES ? 90 : STEPS); at++)
        for (guint seed = 1; seed <= (ops == FAULT_VFS_WRITES ? 2 : 8); seed++, runs++)
          one_error(place, (FaultVfsPlan){.kind = kind, .ops = ops, .at = at, .times = 1, .seed = seed * 100 + at}, &unknown);
  g_test_message("%u runs, %u commits of unknown outcome", runs, unknown);
  g_assert_cmpuint(unknown, ==, 0); /* one error is always settled */
}

static void test_errors_for_good(Place *place, gconstpointer data) {
  guint unknown = 0, runs = 0;
  fault_vfs_install();
  for (FaultVfsKind kind = FAULT_VFS_IOERR; kind <= FAULT_VFS_FULL; kind++)
    for (FaultVfsOps ops = FAULT_VFS_WRITES; ops <= (kind == FAULT_VFS_IOERR ? FAULT_VFS_SYNCS : FAULT_VFS_WRITES); ops++)
      for (guint at = 1; at <= (ops == FAULT_VFS_WRITES ? 90 : STEPS); at += 3, runs++)
        one_error(place, (FaultVfsPlan){.kind = kind, .ops = ops, .at = at, .times = 0, .seed = at}, &unknown);
  g_test_message("%u runs, %u commits of unknown outcome", runs, unknown);
  g_assert_cmpuint(unknown, >, 0);
}

static void test_message_when_full(Place *place, gconstpointer data) {
  g_autoptr(GError) error = NULL;
  fault_vfs_install();
  PawlDb *db = open_made(place->url);
  fault_vfs_arm(&(FaultVfsPlan){.kind = FAULT_VFS_FULL, .ops = FAULT_VFS_WRITES, .at = 1, .seed = 1});
  g_assert_false(pawl_db_exec(db, PAWL_SQL_COUNTER_SET, NULL, &error, PAWL_ROW(pawl_text("a"), PAWL_INT(1))));
  g_autofree char *fix = g_strconcat("counter_set: database or disk is full; free some space in ", place->folder, NULL);
  assert_error(error, PAWL_ERROR_UNAVAILABLE, fix);
  fault_vfs_arm(NULL);
  pawl_db_close(db);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
#define ADD(name, function) g_test_add("/db/disk/" name, Place, NULL, place_make, function, place_drop)
  ADD("full-tmpfs", test_full_tmpfs); /* the first two are on the real disk */
  ADD("file-limit", test_file_limit);
  ADD("message-when-full", test_message_when_full);
  ADD("errors-once", test_errors_once);
  ADD("errors-for-good", test_errors_for_good);
  return g_test_run();
}
