/* SPDX-License-Identifier: Apache-2.0 */
/* doctor on a shared store: what the server promises, and what is around it. Most of this is the server's business and is settled once;
 * a check fails where pawl's guarantees or its pace depend on it. */
#include "base/clock.h"
#include "store/doctor_private.h"
#include "store/replicas.h"

#include <string.h>

#define POOLER_PAUSE_US (100 * 1000)
#define POOLER_AGE_MS 1000 /* a backend this much older than our connection was somebody else's before */
#define IDLE_MS (30 * PAWL_SECOND_MS)
#define RUNNING_MS (15 * PAWL_MINUTE_MS)
#define DEAD_MIN 50000 /* dead rows of a hot table: autovacuum begins at 5,000 */
#define RANGES_MIN_MS PAWL_DAY_MS
#define RANGES_MAX 48 /* from here on ranges become wide */

static gboolean one_row(PawlRows *rows, GError **error) { return rows != NULL && pawl_rows_next(rows, error); }

/* ---- what a commit is worth ---- */

/* Across a failover a guarantee holds for what the new primary has, and only when the old one can do nothing any more. */
static void add_failover(GPtrArray *checks, PawlRows *rows) {
  const char *level = pawl_rows_text(rows, 3), *names = pawl_rows_text(rows, 4);
  gint64 standbys = pawl_rows_int(rows, 5), synchronous = pawl_rows_int(rows, 6);
  gboolean sees = pawl_rows_int(rows, 7) != 0, waits = *names != '\0' && strcmp(level, "local") != 0;
  if (waits && sees && synchronous == 0)
    pawl_check_add(checks, "failover", FALSE, "bring the standby back, or take it out of synchronous_standby_names",
      "commits wait for a synchronous standby, and none is connected");
  else if (waits)
    pawl_check_add(checks, "failover", TRUE, NULL,
      "synchronous (synchronous_commit %s): what is acknowledged is on a standby, so G1, G5 and G8 hold across its promotion, if the old "
      "primary is fenced",
      level);
  else if (*names != '\0')
    pawl_check_add(checks, "failover", TRUE, NULL,
      "asynchronous for pawl (synchronous_commit local): a promotion can lose the last commits, and with them G1, G5 and G8 for "
      "what they said");
  else if (standbys > 0)
    pawl_check_add(checks, "failover", TRUE, NULL,
      "asynchronous, %" G_GINT64_FORMAT
      " connected: a promotion can lose the last commits, and with them G1, G5 and G8 for what they said; synchronous_standby_names "
      "prevents that",
      standbys);
  else
    pawl_check_add(checks, "failover", TRUE, NULL,
      "no standby: G1, G5 and G8 hold on this server; a restored backup knows nothing of what came after it");
}

static gboolean check_commits(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 bytes;
  if (!pawl_store_int(store, PAWL_SQL_DOCTOR_SIZE, &bytes, error, PAWL_NO_PARAMS)) return FALSE;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_SERVER, error, PAWL_NO_PARAMS);
  if (!one_row(rows, error)) return FALSE;
  gboolean fsync_on = pawl_rows_int(rows, 0) != 0, pages = pawl_rows_int(rows, 1) != 0, sums = pawl_rows_int(rows, 2) != 0;
  pawl_check_add(checks, "size", TRUE, NULL, "%.1f MiB; the server %s", (double)bytes / (1024 * 1024),
    sums ? "checks its pages itself (data_checksums)" : "does not check its pages (data_checksums off)");
  pawl_check_add(checks, "durability", fsync_on && pages,
    "switch them on: after a crash of the machine the database may be damaged or lack what was acknowledged (G8)",
    "fsync %s, full_page_writes %s", fsync_on ? "on" : "off", pages ? "on" : "off");
  add_failover(checks, rows);
  if (pawl_rows_int(rows, 7) == 0)
    pawl_check_add(checks, "view", TRUE, NULL,
      "this role sees only its own transactions and no state of standbys: GRANT pg_read_all_stats TO it shows the rest");
  return TRUE;
}

/* ---- vacuum ---- */

static gboolean check_vacuum(PawlStore *store, GPtrArray *checks, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_VACUUM, error, PAWL_NO_PARAMS);
  if (!one_row(rows, error)) return FALSE;
  gboolean works = pawl_rows_int(rows, 0) != 0;
  const char *off = pawl_rows_text(rows, 1), *worst = pawl_rows_text(rows, 2);
  gint64 dead = pawl_rows_int(rows, 3), live = pawl_rows_int(rows, 4);
  if (!works)
    pawl_check_add(checks, "vacuum", FALSE,
      "switch autovacuum and track_counts on: without them the hot tables grow and slow down for ever",
      "autovacuum does not run on this server");
  else if (off != NULL)
    pawl_check_add(checks, "vacuum", FALSE, "ALTER TABLE … RESET (autovacuum_enabled)", "autovacuum is switched off for %s", off);
  else
    pawl_check_add(checks, "vacuum", dead < DEAD_MIN || dead < 5 * live, "look at `held` here, and at what autovacuum is busy with",
      "autovacuum is on; most dead rows: %s, %" G_GINT64_FORMAT, worst != NULL ? worst : "none", dead);
  return TRUE;
}

static gboolean check_held(PawlStore *store, GPtrArray *checks, GError **error) {
  GError *why = NULL;
  g_autoptr(GString) text = g_string_new(NULL);
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_HELD, error, PAWL_ROW(PAWL_INT(IDLE_MS), PAWL_INT(RUNNING_MS)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &why)) {
    gboolean slot = g_str_has_prefix(pawl_rows_text(rows, 0), "the replication slot");
    g_autofree char *age = slot ? g_strdup_printf("%" G_GINT64_FORMAT " transactions", pawl_rows_int(rows, 1))
                                : pawl_duration_text(pawl_rows_int(rows, 1) / PAWL_SECOND_MS * PAWL_SECOND_MS);
    g_string_append_printf(text, "%s%s, for %s", text->len > 0 ? "; " : "", pawl_rows_text(rows, 0), age);
  }
  if (why != NULL) {
    g_propagate_error(error, why);
    return FALSE;
  }
  pawl_check_add(checks, "held", text->len == 0, "end it: dead rows of the hot tables can't be vacuumed meanwhile", "%s",
    text->len > 0 ? text->str : "nothing keeps dead rows from being vacuumed");
  return TRUE;
}

/* ---- connections and replicas ---- */

static void add_silent(GString *text, const GPtrArray *replicas, guint *ret_living) {
  for (guint i = 0; i < replicas->len; i++) {
    const PawlReplica *replica = g_ptr_array_index(replicas, i);
    gboolean came_back = FALSE;
    if (pawl_replica_lives(replica)) ++*ret_living;
    if (replica->ended_at_ms != 0 || pawl_replica_lives(replica)) continue;
    for (guint j = 0; j < replicas->len; j++) {
      const PawlReplica *other = g_ptr_array_index(replicas, j);
      came_back = came_back || (g_str_equal(other->name, replica->name) && other->started_at_ms > replica->started_at_ms);
    }
    if (!came_back) g_string_append_printf(text, "%s%s on %s", text->len > 0 ? ", " : "", replica->name, replica->host);
  }
}

static gboolean check_replicas(PawlStore *store, GPtrArray *checks, guint *ret_living, GError **error) {
  g_autoptr(GPtrArray) replicas = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_replica_free);
  g_autoptr(GString) silent = g_string_new(NULL);
  if (!pawl_store_replicas(store, replicas, error)) return FALSE;
  add_silent(silent, replicas, ret_living);
  if (silent->len > 0)
    pawl_check_add(checks, "replicas", FALSE,
      "look at the host: it died, froze, or can't reach the database; a row is forgotten after a day", "%u living, silent: %s", *ret_living,
      silent->str);
  else
    pawl_check_add(checks, "replicas", TRUE, NULL, "%u living, none silent", *ret_living);
  return TRUE;
}

static gboolean check_connections(PawlStore *store, GPtrArray *checks, guint replicas, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_CONNECTIONS, error, PAWL_NO_PARAMS);
  if (!one_row(rows, error)) return FALSE;
  gint64 most = pawl_rows_int(rows, 0) - pawl_rows_int(rows, 1), room = most - pawl_rows_int(rows, 2), used = pawl_rows_int(rows, 2);
  gint64 database = pawl_rows_int(rows, 3), role = pawl_rows_int(rows, 5), need = (gint64)(replicas + 1) * PAWL_REPLICA_CONNECTIONS;
  g_autoptr(GString) limits = g_string_new(NULL);
  if (database >= 0) room = MIN(room, database - pawl_rows_int(rows, 4));
  if (database >= 0) g_string_append_printf(limits, ", at most %" G_GINT64_FORMAT " to this database", database);
  if (role >= 0) g_string_append_printf(limits, ", at most %" G_GINT64_FORMAT " of this role", role);
  gboolean ok = room >= PAWL_REPLICA_CONNECTIONS && (role < 0 || role >= need);
  pawl_check_add(checks, "connections", ok, "raise the limit, or put a pooler in transaction mode in between",
    "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " used%s; a replica takes up to %d, and there %s room for another", used, most, limits->str,
    PAWL_REPLICA_CONNECTIONS, ok ? "is" : "is no");
  return TRUE;
}

/* Poolers hand out backends that served others before, or another one each time. Either is fine with pawl, and good to know. */
gboolean pawl_doctor_pooler(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 pids[2], age_ms = 0;
  for (gsize i = 0; i < 2; i++) {
    g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_BACKEND, error, PAWL_NO_PARAMS);
    if (!one_row(rows, error)) return FALSE;
    pids[i] = pawl_rows_int(rows, 0);
    age_ms = MAX(age_ms, pawl_rows_int(rows, 1));
    if (i == 0) g_usleep(POOLER_PAUSE_US);
  }
  gint64 ours_ms = (g_get_monotonic_time() - store->opened_us) / 1000;
  if (pids[0] != pids[1])
    pawl_check_add(checks, "pooler", TRUE, NULL, "in between, with a backend for each transaction; pawl needs no more than that");
  else if (age_ms > ours_ms + POOLER_AGE_MS)
    pawl_check_add(checks, "pooler", TRUE, NULL, "in between: the backend is older than this connection; pawl works in any mode of it");
  else
    pawl_check_add(checks, "pooler", TRUE, NULL, "none seen");
  return TRUE;
}

/* ---- ranges of history and clocks ---- */

static gboolean check_ranges(PawlStore *store, GPtrArray *checks, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_DOCTOR_RANGES, error, PAWL_NO_PARAMS);
  if (!one_row(rows, error)) return FALSE;
  gint64 n = pawl_rows_int(rows, 0), ahead_ms = pawl_rows_int(rows, 1);
  g_autofree char *ahead = pawl_duration_text(MAX(ahead_ms, 0) / PAWL_HOUR_MS * PAWL_HOUR_MS);
  if (ahead_ms < RANGES_MIN_MS)
    pawl_check_add(checks, "ranges", FALSE, "start a replica, which makes them; does its role own the schema or have the kind runtime?",
      "%" G_GINT64_FORMAT " ranges of history, and only %s of them still to come", n, ahead);
  else
    pawl_check_add(checks, "ranges", n < RANGES_MAX, "nothing is dropped: look for an old unfinished run, or a shorter --history",
      "%" G_GINT64_FORMAT " ranges of history, %s ahead", n, ahead);
  return TRUE;
}

static gboolean check_node_clock(PawlStore *store, GPtrArray *checks, GError **error) {
  gint64 now_ms;
  if (!pawl_store_now(store, &now_ms, error)) return FALSE;
  gint64 off_ms = g_get_real_time() / 1000 - now_ms;
  g_autofree char *off = pawl_duration_text(ABS(off_ms));
  pawl_check_add(checks, "node clock", TRUE, NULL, "%s %s the server's, which alone decides", off, off_ms < 0 ? "behind" : "ahead of");
  return TRUE;
}

gboolean pawl_doctor_server(PawlStore *store, GPtrArray *checks, GError **error) {
  guint living = 0;
  return check_commits(store, checks, error) && check_vacuum(store, checks, error) && check_held(store, checks, error) &&
         check_replicas(store, checks, &living, error) && check_connections(store, checks, living, error) &&
         check_ranges(store, checks, error) && check_node_clock(store, checks, error);
}
