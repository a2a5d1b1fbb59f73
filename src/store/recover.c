/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: leases whose worker is gone or that ran out, and drift. A row that cannot be settled never hides the others: each is a
 * transaction of its own. */
#include "base/fault.h"
#include "store/dispatch.h"
#include "store/store_private.h"

#define ORPHANS_PAGE 128
#define DRIFT_PAGE 128
#define DRIFT_NEWEST 10000 /* runs looked through for one that lost its hot row */

static gboolean read_leases(PawlStore *store, PawlSql sql, GArray *leases, GError **error, const PawlValue *values, gsize n_values) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, sql, error, values, n_values);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    PawlOrphan orphan = {.run = pawl_rows_id(rows, 0),
      .session = pawl_rows_id(rows, 1),
      .attempt = (gint)pawl_rows_int(rows, 2),
      .lease_version = pawl_rows_int(rows, 3),
      .started = pawl_rows_int(rows, 4) != 0,
      .pid = pawl_rows_int(rows, 6),
      .start_ticks = pawl_rows_int(rows, 7)};
    if (!pawl_rows_is_null(rows, 5)) g_strlcpy(orphan.boot_id, pawl_rows_text(rows, 5), sizeof orphan.boot_id);
    g_array_append_val(leases, orphan);
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

gboolean pawl_store_orphans(PawlStore *store, const PawlId *mine, const PawlId *after, GArray *orphans, GError **error) {
  return read_leases(store, PAWL_SQL_RECOVER_ORPHANS, orphans, error, PAWL_ROW(pawl_id(mine), pawl_id(after), PAWL_INT(ORPHANS_PAGE)));
}

gboolean pawl_store_held(PawlStore *store, const PawlId *session, GArray *held, GError **error) {
  guint before = held->len;
  if (!read_leases(store, PAWL_SQL_RECOVER_HELD, held, error, PAWL_ROW(pawl_id(session)))) return FALSE;
  for (guint i = before; i < held->len; i++) g_array_index(held, PawlOrphan, i).mine = TRUE;
  return TRUE;
}

gboolean pawl_store_may_settle(PawlStore *store, const PawlOrphan *orphan, gboolean *ret_take, GError **error) {
  g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(PawlId));
  *ret_take = TRUE;
  if (!store->shared || orphan->mine) return TRUE;
  if (!pawl_store_ids(store, PAWL_SQL_RECOVER_EXPIRED, runs, error,
        PAWL_ROW(pawl_id(&orphan->run), PAWL_INT(orphan->attempt), PAWL_INT(orphan->lease_version))))
    return FALSE;
  *ret_take = runs->len > 0;
  return TRUE;
}

/* ---- drift ---- */

/* The hot tables, and how a drifted row of one comes to stand aside: from another table than parked it is moved. */
typedef struct {
  const char *name;
  PawlSql park;
  gboolean moves;
  PawlSql drop;
} Place;
static const Place places[] = {
  {"ready", PAWL_SQL_RECOVER_MANUAL_FROM_READY, TRUE, PAWL_SQL_RECOVER_DROP_READY},
  {"leased", PAWL_SQL_RECOVER_MANUAL_FROM_LEASED, TRUE, PAWL_SQL_RECOVER_DROP_LEASED},
  {"parked", PAWL_SQL_RECOVER_PARK_MANUAL, FALSE},
};

static const Place *place_named(const char *name) {
  for (gsize i = 0; i < G_N_ELEMENTS(places); i++)
    if (strcmp(name, places[i].name) == 0) return &places[i];
  return NULL;
}

typedef struct {
  PawlId run, task;
  const Place *place; /* NULL: in no hot table */
  char *why;
  gint attempt;
  gint64 priority, queued_at_ms;
} Drifted;

static void drifted_clear(gpointer drifted) { g_free(((Drifted *)drifted)->why); }

static gboolean read_drift(PawlStore *store, GArray *found, GError **error) {
  GError *failed = NULL;
  PawlRows *rows = pawl_db_query(store->db, PAWL_SQL_RECOVER_DRIFT, error, PAWL_ROW(PAWL_INT(DRIFT_PAGE)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    Drifted d = {.run = pawl_rows_id(rows, 0), .place = place_named(pawl_rows_text(rows, 1)), .why = g_strdup(pawl_rows_text(rows, 2))};
    g_array_append_val(found, d);
  }
  pawl_rows_close(rows);
  if (failed != NULL) {
    g_propagate_error(error, failed);
    return FALSE;
  }
  rows = pawl_db_query(store->db, PAWL_SQL_RECOVER_MISSING, error, PAWL_ROW(PAWL_INT(DRIFT_NEWEST), PAWL_INT(DRIFT_PAGE)));
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    Drifted d = {.run = pawl_rows_id(rows, 0),
      .task = pawl_rows_id(rows, 1),
      .priority = pawl_rows_int(rows, 2),
      .queued_at_ms = pawl_rows_int(rows, 3),
      .attempt = (gint)pawl_rows_int(rows, 4),
      .why = g_strdup("it stands in no hot table")};
    g_array_append_val(found, d);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

static gboolean park_missing(PawlStore *store, const Drifted *d, GError **error) {
  PawlId pool;
  g_autoptr(GArray) pools = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(store, PAWL_SQL_RECOVER_ANY_POOL, pools, error, PAWL_ROW(pawl_id(&d->task)))) return FALSE;
  pool = pools->len > 0 ? g_array_index(pools, PawlId, 0) : PAWL_ID_NONE;
  return pawl_db_exec(store->db, PAWL_SQL_PARKED_INSERT, NULL, error,
    PAWL_ROW(pawl_id(&d->run), PAWL_INT(d->attempt), pawl_id(&d->task), pawl_id(&pool), PAWL_INT(1),
      PAWL_INT(pawl_order_key(d->queued_at_ms, (gint)d->priority)), PAWL_INT(0), PAWL_INT(0), PAWL_INT(0), PAWL_NULL,
      PAWL_INT(d->queued_at_ms), pawl_text("manual"), pawl_text(d->why), PAWL_NULL));
}

static gboolean put_aside(PawlStore *store, const Drifted *d, GError **error) {
  const Place *place = d->place;
  if (place == NULL) return park_missing(store, d, error);
  return pawl_db_exec(store->db, place->park, NULL, error, PAWL_ROW(pawl_id(&d->run), pawl_text(d->why))) &&
         (!place->moves || pawl_db_exec(store->db, place->drop, NULL, error, PAWL_ROW(pawl_id(&d->run))));
}

/* A shared store is looked through without locks, so each row is looked at again under its run's: what moves just now is nobody's drift. */
static gboolean still_drifted(PawlStore *store, const Drifted *d, gboolean *ret_still, GError **error) {
  gint64 locked, still;
  const char *place = d->place == NULL ? "" : d->place->name;
  *ret_still = TRUE;
  if (!store->shared) return TRUE;
  if (!pawl_store_int(store, PAWL_SQL_RECOVER_LOCK, &locked, error, PAWL_ROW(pawl_id(&d->run))) ||
      !pawl_store_int(store, PAWL_SQL_RECOVER_STILL, &still, error, PAWL_ROW(pawl_id(&d->run), pawl_text(place), PAWL_INT(locked))))
    return FALSE;
  *ret_still = still != 0;
  return TRUE;
}

/* Whether this is the replica that looks: two would put the same rows aside. */
static gboolean take_turn(PawlStore *store, gboolean *ret_mine, GError **error) {
  gint64 taken = 1;
  if (store->shared && !pawl_store_int(store, PAWL_SQL_RECOVER_TAKE, &taken, error, PAWL_NO_PARAMS)) return FALSE;
  *ret_mine = taken != 0;
  return TRUE;
}

gboolean pawl_store_drift(PawlStore *store, guint *ret_found, GError **error) {
  gboolean mine = FALSE;
  guint aside = 0;
  g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(Drifted));
  g_array_set_clear_func(found, drifted_clear);
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = take_turn(store, &mine, error) && (!mine || read_drift(store, found, error));
  for (guint i = 0; ok && i < found->len; i++) {
    const Drifted *d = &g_array_index(found, Drifted, i);
    gboolean still;
    ok = still_drifted(store, d, &still, error) &&
         (!still || (put_aside(store, d, error) && pawl_store_act(store, &d->run, "run.drift", error, "reason", d->why, NULL)));
    aside += ok && still;
  }
  if (!ok) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  if (!pawl_db_commit(store->db, error)) return FALSE;
  *ret_found = aside;
  return TRUE;
}
