/* SPDX-License-Identifier: Apache-2.0 */
/* The power is cut at several hundred moments of a fixed piece of work. After each, the store must hold every transaction that was acknowledged, in full,
 * and beyond those at most the one that was on its way (G8). The work makes the log long enough to be written back and used again. */
#include "fault_vfs.h"
#include "test_db.h"

#include <sqlite3.h>

#define STEPS 60
#define PART_BYTES 60000

/* The bytes of a part follow from its numbers. */
static void fill(guint8 *bytes, gint64 step, gint64 part) {
  guint32 x = (guint32)(step * 7919 + part * 104729 + 1);
  for (gsize i = 0; i < PART_BYTES; i++) {
    x = x * 1664525 + 1013904223;
    bytes[i] = (guint8)(x >> 24);
  }
}

/* Uneven, so that the cuts fall differently: 1 to 4 parts of 200 to 60,000 bytes. */
static gint64 parts_of(gint64 step) { return 1 + step * 7 % 4; }
static gsize bytes_of(gint64 step, gint64 part) { return step % 5 == 0 ? 200 : (gsize)(PART_BYTES - part * 9001); }

/* A numbered transaction: its parts, one written by exec_many and deleted again, and the number itself. */
static gboolean one_step(PawlDb *db, gint64 step, guint8 *bytes) {
  if (!pawl_db_begin(db, PAWL_TX_WRITE, NULL)) return FALSE;
  gboolean ok = pawl_db_exec(db, PAWL_SQL_COUNTER_PUT, NULL, NULL, PAWL_ROW(pawl_text("step"), PAWL_INT(step)));
  for (gint64 part = 0; ok && part < parts_of(step); part++) {
    fill(bytes, step, part);
    ok = pawl_db_exec(db, PAWL_SQL_STEP_ADD, NULL, NULL, PAWL_ROW(PAWL_INT(step), PAWL_INT(part), pawl_blob(bytes, bytes_of(step, part))));
  }
  if (ok && step % 4 == 3) ok = pawl_db_exec(db, PAWL_SQL_STEP_DROP, NULL, NULL, PAWL_ROW(PAWL_INT(step - 2)));
  ok = ok && pawl_db_commit(db, NULL);
  pawl_db_rollback(db);
  return ok;
}

/* Returns the last step that was acknowledged. Now and then the store is closed and opened, as a restart does. */
static gint64 work(const char *url) {
  g_autofree guint8 *bytes = g_malloc(PART_BYTES);
  PawlDb *db = open_again(url);
  gint64 step = 0;
  while (step < STEPS && db != NULL && one_step(db, step + 1, bytes)) {
    step++;
    if (step != 45) continue;
    pawl_db_close(db);
    db = open_url(url, FALSE, NULL);
  }
  pawl_db_close(db);
  return step;
}

static void check_file(const char *path) {
  sqlite3 *handle;
  sqlite3_stmt *stmt;
  g_assert_cmpint(sqlite3_open(path, &handle), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_prepare_v2(handle, "PRAGMA integrity_check", -1, &stmt, NULL), ==, SQLITE_OK);
  g_assert_cmpint(sqlite3_step(stmt), ==, SQLITE_ROW);
  g_assert_cmpstr((const char *)sqlite3_column_text(stmt, 0), ==, "ok");
  sqlite3_finalize(stmt);
  sqlite3_close(handle);
}

/* The store is that of exactly the first `step` transactions. */
static void check_content(PawlDb *db, gint64 step) {
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *expected = g_malloc(PART_BYTES);
  PawlRows *rows = pawl_db_query(db, PAWL_SQL_STEP_LIST, &error, PAWL_NO_PARAMS);
  for (gint64 s = 1; s <= step; s++) {
    if (s % 4 == 1 && s + 2 <= step) continue; /* dropped by step s + 2 */
    for (gint64 part = 0; part < parts_of(s); part++) {
      gsize bytes;
      g_assert_true(pawl_rows_next(rows, &error));
      g_assert_cmpint(pawl_rows_int(rows, 0), ==, s);
      g_assert_cmpint(pawl_rows_int(rows, 1), ==, part);
      const void *stored = pawl_rows_blob(rows, 2, &bytes);
      fill(expected, s, part);
      assert_bytes(stored, bytes, expected, bytes_of(s, part));
    }
  }
  g_assert_false(pawl_rows_next(rows, &error));
  g_assert_no_error(error);
  pawl_rows_close(rows);
}

static void make_store(const Place *place) {
  PawlDb *db = open_made(place->url);
  exec(db, PAWL_SQL_COUNTER_SET, PAWL_ROW(pawl_text("step"), PAWL_INT(0)));
  pawl_db_close(db);
}

/* One cut. Adds to `ret_beyond` when the transaction under way survived. */
static void one_cut(Place *place, FaultVfsOps ops, guint at, guint32 seed, guint *ret_beyond) {
  make_store(place);
  fault_vfs_arm(&(FaultVfsPlan){.kind = FAULT_VFS_POWER_CUT, .ops = ops, .at = at, .seed = seed});
  gint64 acknowledged = work(place->url);
  g_assert_true(fault_vfs_struck());
  fault_vfs_power_on();
  PawlDb *db = open_again(place->url);
  gint64 stored = read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("step")));
  if (stored < acknowledged || stored > acknowledged + 1)
    g_error("cut at %u of %d, seed %u: %d acknowledged, %d stored", at, ops, seed, (int)acknowledged, (int)stored);
  check_content(db, stored);
  exec(db, PAWL_SQL_COUNTER_PUT, PAWL_ROW(pawl_text("step"), PAWL_INT(0))); /* it goes on working */
  pawl_db_close(db);
  check_file(place->path);
  *ret_beyond += stored > acknowledged;
  remove_tree(place->folder);
  g_mkdir(place->folder, 0700);
}

static void test_cuts(Place *place, gconstpointer data) {
  FaultVfsOps ops = (FaultVfsOps)GPOINTER_TO_INT(data);
  guint cuts = g_test_slow() ? 2000 : 200, beyond = 0;
  fault_vfs_install();
  make_store(place);
  fault_vfs_arm(NULL);
  g_assert_cmpint(work(place->url), ==, STEPS);
  guint total = fault_vfs_count(ops);
  remove_tree(place->folder);
  g_mkdir(place->folder, 0700);
  for (guint i = 0; i < cuts; i++) one_cut(place, ops, 1 + (guint)((guint64)i * total / cuts), i + 1, &beyond);
  g_test_message("%u cuts over %u operations; the transaction under way survived %u times", cuts, total, beyond);
  if (ops == FAULT_VFS_SYNCS) g_assert_cmpuint(beyond, >, 0); /* else the model would lose more than a disk does */
}

/* The model itself: without syncs, acknowledged steps are lost. A test that could not fail would prove nothing. */
static void test_without_sync(Place *place, gconstpointer data) {
  guint lost = 0;
  g_autofree guint8 *bytes = g_malloc(PART_BYTES);
  fault_vfs_install();
  for (guint32 seed = 1; seed <= 20; seed++) {
    make_store(place);
    sqlite3 *handle;
    g_assert_cmpint(sqlite3_open(place->path, &handle), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(handle, "PRAGMA synchronous = OFF", NULL, NULL, NULL), ==, SQLITE_OK);
    for (int i = 1; i <= 10; i++)
      g_assert_cmpint(sqlite3_exec(handle, "UPDATE counters SET value = value + 1", NULL, NULL, NULL), ==, SQLITE_OK);
    fault_vfs_cut(seed);
    sqlite3_close(handle);
    fault_vfs_power_on();
    PawlDb *db = open_again(place->url);
    lost += read_one(db, PAWL_SQL_COUNTER_GET, PAWL_ROW(pawl_text("step"))) < 10;
    pawl_db_close(db);
    remove_tree(place->folder);
    g_mkdir(place->folder, 0700);
  }
  g_test_message("lost something in %u of 20 cuts", lost);
  g_assert_cmpuint(lost, >, 10);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add("/db/power/cut-at-writes", Place, GINT_TO_POINTER(FAULT_VFS_WRITES), place_make, test_cuts, place_drop);
  g_test_add("/db/power/cut-at-syncs", Place, GINT_TO_POINTER(FAULT_VFS_SYNCS), place_make, test_cuts, place_drop);
  g_test_add("/db/power/without-sync", Place, NULL, place_make, test_without_sync, place_drop);
  return g_test_run();
}
