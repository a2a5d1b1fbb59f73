/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a lock that another process holds. SQLite can only be asked again, so this asks often at first (a transaction of pawl takes
 * well under a millisecond where nothing waits for the disk) and then every 5 ms or less; the jitter keeps two waiters from asking in
 * step. */
#include "db/sqlite_private.h"

#define FIRST_US 200
#define MOST_US 5000

void pawl_sqlite_busy_start(PawlSqlite *db, gboolean wait) { db->busy_until_us = wait ? g_get_monotonic_time() + db->busy_ms * 1000 : 0; }

/* xorshift: nothing depends on it but the spread of pauses */
static guint64 jitter(PawlSqlite *db) {
  guint64 x = db->busy_jitter;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return db->busy_jitter = x;
}

gboolean pawl_sqlite_busy_pause(PawlSqlite *db, int n_calls) {
  gint64 left_us = db->busy_until_us - g_get_monotonic_time();
  if (left_us <= 0) return FALSE;
  gint64 pause_us = MIN(MOST_US, (gint64)FIRST_US << MIN(n_calls, 8));
  pause_us = pause_us / 2 + (gint64)(jitter(db) % (guint64)pause_us) / 2;
  g_usleep((gulong)MIN(pause_us, left_us));
  return TRUE;
}

int pawl_sqlite_busy(void *db, int n_calls) { return pawl_sqlite_busy_pause(db, n_calls); }
