/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher's pass: what waits is handed out, parked with its reason, or ended, pool by pool. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fault.h"
#include "store/dispatch.h"
#include "store/store_private.h"

#define PASS_ROWS 512 /* candidates read in a pool in one pass */
#define PASS_MS 20    /* how long a pass may take */
#define PAGE_ROWS 64
#define MOVE_ROWS 256       /* due, too late or unsatisfiable rows moved in one pass */
#define WIDE_BOUND_MS 30000 /* so long a wide attempt is overtaken; then slots are reserved for it */

typedef struct {
  PawlId run, task;
  gint attempt, slots, max_active;
  gint64 order_key, since_at_ms;
  gboolean trigger_born, serial, paused, cancelled, archived;
} Candidate;

typedef struct {
  PawlId id;
  gint slots, used;
  gboolean active;
} Pool;

/* What a task's limits count, as it grows in this pass. */
typedef struct {
  PawlId id;
  gint active, active_born;
} TaskUse;

typedef struct {
  PawlStore *store;
  const PawlId *session;
  guint room;
  gint64 lease_ms, now_ms, until_mono_ms;
  GHashTable *uses;   /* TaskUse by id */
  GHashTable *inside; /* pools whose gates are held; NULL: an embedded store, where nobody else is */
  GPtrArray *grants;
  PawlPassResult *result;
} Pass;

void pawl_grant_free(PawlGrant *grant) {
  if (grant == NULL) return;
  g_free(grant->project);
  g_free(grant->task_name);
  g_free(grant->trigger_name);
  g_free(grant->origin);
  g_free(grant->input);
  g_free(grant);
}

/* ---- moves between the hot tables ---- */

static gboolean park(Pass *pass, const Candidate *c, const char *reason, GError **error) {
  gint64 moved = 0;
  if (!pawl_db_exec(pass->store->db, PAWL_SQL_PARKED_FROM_READY, &moved, error,
        PAWL_ROW(pawl_id(&c->run), PAWL_INT(c->attempt), pawl_text(reason), PAWL_NULL)))
    return FALSE;
  if (moved == 0) return TRUE; /* somebody else moves it */
  pass->result->parked++;
  return pawl_db_exec(pass->store->db, PAWL_SQL_READY_DELETE, NULL, error, PAWL_ROW(pawl_id(&c->run), PAWL_INT(c->attempt)));
}

static gboolean move_all(Pass *pass, PawlSql which, GError **error) {
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(pass->store, which, ids, error, PAWL_ROW(PAWL_INT(MOVE_ROWS)))) return FALSE;
  for (guint i = 0; i < ids->len; i++)
    if (!pawl_store_unpark(pass->store, &g_array_index(ids, PawlId, i), error)) return FALSE;
  if (ids->len == MOVE_ROWS) pass->result->more = TRUE;
  return TRUE;
}

static gboolean end_too_late(Pass *pass, GError **error) {
  g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(PawlId));
  if (!pawl_store_ids(pass->store, PAWL_SQL_PULL_TOO_LATE, ids, error, PAWL_ROW(PAWL_INT(MOVE_ROWS)))) return FALSE;
  for (guint i = 0; i < ids->len; i++) {
    gboolean found;
    if (!pawl_store_end_waiting(pass->store, &g_array_index(ids, PawlId, i), PAWL_EVENT_TOO_LATE, "too_late", &found, error)) return FALSE;
    pass->result->too_late += found;
  }
  if (ids->len == MOVE_ROWS) pass->result->more = TRUE;
  return TRUE;
}

/* ---- one candidate ---- */

/* Under the task's gate. `ret_use` NULL: somebody else holds it. */
static gboolean read_use(Pass *pass, const PawlId *task, TaskUse **ret_use, GError **error) {
  TaskUse *use = g_hash_table_lookup(pass->uses, task);
  if (use == NULL) {
    GError *failed = NULL;
    gboolean held;
    *ret_use = NULL;
    if (!pawl_try_task_gate(pass->store, task, &held, error)) return FALSE;
    if (!held) {
      pass->result->skipped = TRUE;
      return TRUE;
    }
    g_autoptr(PawlRows) rows = pawl_db_query(pass->store->db, PAWL_SQL_PULL_TASK_USE, error, PAWL_ROW(pawl_id(task)));
    if (rows == NULL) return FALSE;
    if (!pawl_rows_next(rows, &failed)) {
      g_propagate_error(error, failed);
      return FALSE;
    }
    use = g_new(TaskUse, 1);
    *use = (TaskUse){*task, (gint)pawl_rows_int(rows, 0), (gint)pawl_rows_int(rows, 1)};
    g_hash_table_insert(pass->uses, &use->id, use);
  }
  *ret_use = use;
  return TRUE;
}

/* Why the task's own limits forbid it now: a park reason, or NULL. `ret_busy`: somebody else holds its gate. */
static gboolean blocked_by_task(Pass *pass, const Candidate *c, const char **ret_reason, gboolean *ret_busy, GError **error) {
  TaskUse *use = NULL;
  *ret_reason = NULL;
  *ret_busy = FALSE;
  if (c->paused) {
    *ret_reason = "paused";
    return TRUE;
  }
  if (c->max_active == 0 && !(c->serial && c->trigger_born)) return TRUE;
  if (!read_use(pass, &c->task, &use, error)) return FALSE;
  *ret_busy = use == NULL;
  if (use == NULL) return TRUE;
  if (c->max_active > 0 && use->active >= c->max_active)
    *ret_reason = "limit";
  else if (c->serial && c->trigger_born && use->active_born > 0)
    *ret_reason = "overlap";
  return TRUE;
}

static gboolean read_grant(Pass *pass, PawlGrant *grant, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(pass->store->db, PAWL_SQL_PULL_DETAIL, error, PAWL_ROW(pawl_id(&grant->run)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a ready attempt has no run");
    return FALSE;
  }
  grant->trigger = pawl_rows_id(rows, 0);
  grant->project = g_strdup(pawl_rows_text(rows, 1));
  grant->task_name = g_strdup(pawl_rows_text(rows, 2));
  grant->trigger_name = g_strdup(pawl_rows_text(rows, 3));
  grant->task_revision = pawl_rows_int(rows, 4);
  grant->nominal_at_ms = pawl_rows_int(rows, 5);
  grant->queued_at_ms = pawl_rows_int(rows, 6);
  grant->origin = g_strdup(pawl_rows_text(rows, 7));
  grant->input = g_strdup(pawl_rows_text(rows, 8));
  return TRUE;
}

static gboolean read_lease(Pass *pass, PawlGrant *grant, GError **error) {
  GError *failed = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(pass->store->db, PAWL_SQL_LEASE_ROW, error, PAWL_ROW(pawl_id(&grant->run)));
  if (rows == NULL) return FALSE;
  if (!pawl_rows_next(rows, &failed)) {
    if (failed != NULL)
      g_propagate_error(error, failed);
    else
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a lease is gone inside the transaction that granted it");
    return FALSE;
  }
  grant->lease_version = pawl_rows_int(rows, 6);
  grant->laters = (gint)pawl_rows_int(rows, 7);
  grant->expires_at_ms = pawl_rows_int(rows, 10);
  grant->acquired_at_ms = grant->expires_at_ms - pass->lease_ms;
  return TRUE;
}

static gboolean hand_out(Pass *pass, Pool *pool, const Candidate *c, GError **error) {
  PawlGrant *grant = g_new0(PawlGrant, 1);
  grant->run = c->run;
  grant->task = c->task;
  grant->attempt = c->attempt;
  grant->slots = c->slots;
  grant->token = pawl_id_random();
  g_ptr_array_add(pass->grants, grant);
  g_autofree char *digest = pawl_digest((const char *)grant->token.b, PAWL_ID_BYTES);
  gint64 moved = 0;
  if (!pawl_db_exec(pass->store->db, PAWL_SQL_LEASE_GRANT, &moved, error,
        PAWL_ROW(pawl_id(&c->run), PAWL_INT(c->attempt), pawl_id(pass->session), pawl_text(digest), PAWL_INT(pass->lease_ms))))
    return FALSE;
  if (moved == 0) { /* cancelled meanwhile */
    g_ptr_array_set_size(pass->grants, (gint)pass->grants->len - 1);
    return TRUE;
  }
  if (!pawl_db_exec(pass->store->db, PAWL_SQL_READY_DELETE, NULL, error, PAWL_ROW(pawl_id(&c->run), PAWL_INT(c->attempt))) ||
      !read_lease(pass, grant, error) || !read_grant(pass, grant, error))
    return FALSE;
  TaskUse *use = g_hash_table_lookup(pass->uses, &c->task);
  if (use != NULL) {
    use->active++;
    use->active_born += c->trigger_born;
  }
  pool->used += c->slots;
  pass->room--;
  pass->result->handed_out++;
  return TRUE;
}

typedef enum { TOOK, PARKED, LEFT, RESERVED } Verdict;

static gboolean consider(Pass *pass, Pool *pool, const Candidate *c, gboolean park_limited, Verdict *ret, GError **error) {
  const char *blocked;
  gboolean found, busy;
  *ret = PARKED;
  if (c->cancelled || c->archived) {
    pass->result->cancelled++;
    return pawl_store_end_waiting(
      pass->store, &c->run, PAWL_EVENT_CANCEL, c->archived ? "its task was deleted" : "cancelled", &found, error);
  }
  if (!blocked_by_task(pass, c, &blocked, &busy, error)) return FALSE;
  if (busy || (blocked != NULL && !park_limited))
    *ret = LEFT;
  else if (blocked != NULL)
    return park(pass, c, blocked, error);
  else if (pool->slots != -1 && c->slots > pool->slots)
    return park(pass, c, "unsatisfiable", error);
  else if (pool->slots != -1 && pool->used + c->slots > pool->slots)
    *ret = c->slots > 1 && pass->now_ms - c->since_at_ms > WIDE_BOUND_MS ? RESERVED : LEFT;
  else {
    *ret = TOOK;
    return hand_out(pass, pool, c, error);
  }
  return TRUE;
}

/* ---- one pool ---- */

static gboolean read_candidates(Pass *pass, PawlSql sql, const PawlValue *values, gsize n, GArray *page, GError **error) {
  GError *failed = NULL;
  g_array_set_size(page, 0);
  PawlRows *rows = pawl_db_query(pass->store->db, sql, error, values, n);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    Candidate c = {.run = pawl_rows_id(rows, 0),
      .attempt = (gint)pawl_rows_int(rows, 1),
      .task = pawl_rows_id(rows, 2),
      .slots = (gint)pawl_rows_int(rows, 3),
      .order_key = pawl_rows_int(rows, 4),
      .trigger_born = pawl_rows_int(rows, 5) != 0,
      .since_at_ms = pawl_rows_int(rows, 6),
      .max_active = (gint)pawl_rows_int(rows, 7),
      .serial = pawl_rows_int(rows, 8) != 0,
      .paused = pawl_rows_int(rows, 9) != 0,
      .cancelled = pawl_rows_int(rows, 10) != 0,
      .archived = pawl_rows_int(rows, 11) != 0};
    g_array_append_val(page, c);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

static gboolean pool_is_open(const Pass *pass, const Pool *pool) {
  return pass->room > 0 && (pass->inside == NULL || g_hash_table_contains(pass->inside, &pool->id)) && pool->active &&
         (pool->slots == -1 || pool->used < pool->slots);
}

/* Considers a page; `ret_reserved`: a wide attempt waits for the slots that come free, so nothing else of this pool starts. */
static gboolean take_page(
  Pass *pass, Pool *pool, const GArray *page, gboolean park_limited, guint *took, guint *parked, gboolean *reserved, GError **error) {
  for (guint i = 0; i < page->len && !*reserved && pool_is_open(pass, pool); i++) {
    Verdict verdict;
    if (!consider(pass, pool, &g_array_index(page, Candidate, i), park_limited, &verdict, error)) return FALSE;
    *took += verdict == TOOK;
    *parked += verdict == PARKED;
    *reserved = verdict == RESERVED;
  }
  return TRUE;
}

/* Looks at the first row of every task that its own limits let run: however long the backlog of a saturated task is, it costs one step,
 * and however many saturated tasks there are, they hide none. */
static gboolean take_heads(Pass *pass, Pool *pool, GArray *page, gboolean *reserved, GError **error) {
  guint took, parked = 0;
  do {
    took = 0;
    if (!read_candidates(pass, PAWL_SQL_PULL_HEADS, PAWL_ROW(pawl_id(&pool->id), PAWL_INT(PASS_ROWS)), page, error) ||
        !take_page(pass, pool, page, FALSE, &took, &parked, reserved, error))
      return FALSE;
  } while (took > 0 && !*reserved && pool_is_open(pass, pool) && pawl_clock_mono_ms() < pass->until_mono_ms);
  if (took > 0 && pool_is_open(pass, pool) && !*reserved) pass->result->more = TRUE;
  return TRUE;
}

static gboolean take_pool(Pass *pass, Pool *pool, GArray *page, GError **error) {
  gint64 after_key = G_MININT64;
  PawlId after_run = PAWL_ID_NONE;
  guint seen = 0, took = 0, parked = 0;
  gboolean reserved = FALSE, full_page = TRUE;
  while (full_page && !reserved && seen < PASS_ROWS && pool_is_open(pass, pool)) {
    guint limit = MIN(PAGE_ROWS, pass->room + 16);
    if (!read_candidates(pass, PAWL_SQL_PULL_CANDIDATES,
          PAWL_ROW(pawl_id(&pool->id), PAWL_INT(after_key), pawl_id(&after_run), PAWL_INT(limit)), page, error))
      return FALSE;
    full_page = page->len == limit;
    seen += page->len;
    if (page->len > 0) {
      const Candidate *last = &g_array_index(page, Candidate, page->len - 1);
      after_key = last->order_key;
      after_run = last->run;
    }
    if (!take_page(pass, pool, page, TRUE, &took, &parked, &reserved, error)) return FALSE;
  }
  if (!full_page || reserved || !pool_is_open(pass, pool)) return TRUE;
  return take_heads(pass, pool, page, &reserved, error); /* all that was read is blocked: look past it */
}

static gboolean read_pools(Pass *pass, GArray *pools, GError **error) {
  GError *failed = NULL;
  PawlRows *rows = pawl_db_query(pass->store->db, PAWL_SQL_PULL_POOLS, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    const char *state = pawl_rows_text(rows, 3);
    Pool pool = {pawl_rows_id(rows, 0), (gint)pawl_rows_int(rows, 1), (gint)pawl_rows_int(rows, 2),
      g_str_equal(state, "active") || g_str_equal(state, "draining")};
    g_array_append_val(pools, pool);
  }
  pawl_rows_close(rows);
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

/* Before anything that the hand-out decides by is read. */
static gboolean go_inside(Pass *pass, GError **error) {
  GError *failed = NULL;
  if (pass->inside == NULL) return TRUE;
  g_autoptr(PawlRows) rows = pawl_db_query(pass->store->db, PAWL_SQL_POOL_GATES_LOCK, error, PAWL_NO_PARAMS);
  if (rows == NULL) return FALSE;
  while (pawl_rows_next(rows, &failed)) {
    PawlId pool = pawl_rows_id(rows, 0);
    g_hash_table_add(pass->inside, g_memdup2(&pool, sizeof pool));
  }
  if (failed == NULL) return TRUE;
  g_propagate_error(error, failed);
  return FALSE;
}

/* Pools take turns at who is first, so that a session that is always full starves none. */
static gboolean take_pools(Pass *pass, GError **error) {
  g_autoptr(GArray) pools = g_array_new(FALSE, FALSE, sizeof(Pool));
  g_autoptr(GArray) page = g_array_new(FALSE, FALSE, sizeof(Candidate));
  if (!go_inside(pass, error) || !read_pools(pass, pools, error)) return FALSE;
  for (guint i = 0; pass->inside != NULL && i < pools->len; i++)
    if (!g_hash_table_contains(pass->inside, &g_array_index(pools, Pool, i).id)) pass->result->skipped = TRUE;
  guint first = pools->len > 0 ? pass->store->pool_turn++ % pools->len : 0;
  guint room = pass->room;
  for (guint i = 0; i < pools->len && pass->room > 0; i++) {
    Pool *pool = &g_array_index(pools, Pool, (first + i) % pools->len);
    if (!take_pool(pass, pool, page, error)) return FALSE;
  }
  if (pass->room == 0 && room > 0) pass->result->more = FALSE; /* whoever frees room asks again */
  return TRUE;
}

static gboolean run_pass(Pass *pass, GError **error) {
  if (!pawl_store_now(pass->store, &pass->now_ms, error) || !move_all(pass, PAWL_SQL_PULL_DUE, error) ||
      !move_all(pass, PAWL_SQL_PULL_FITS_NOW, error) || !end_too_late(pass, error))
    return FALSE;
  return pass->room == 0 || take_pools(pass, error);
}

gboolean pawl_store_pull(
  PawlStore *store, const PawlId *session, guint room, gint64 lease_ms, GPtrArray *grants, PawlPassResult *ret_result, GError **error) {
  PawlPassResult result = {0};
  g_autoptr(GHashTable) uses = g_hash_table_new_full(pawl_id_hash, pawl_id_equal_p, NULL, g_free);
  g_autoptr(GPtrArray) given = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_grant_free);
  g_autoptr(GHashTable) inside = g_hash_table_new_full(pawl_id_hash, pawl_id_equal_p, g_free, NULL);
  Pass pass = {.store = store,
    .session = session,
    .room = room,
    .lease_ms = lease_ms,
    .until_mono_ms = pawl_clock_mono_ms() + PASS_MS,
    .uses = uses,
    .inside = store->shared ? inside : NULL,
    .grants = given,
    .result = &result};
  if (!pawl_db_begin(store->db, PAWL_TX_WRITE, error)) return FALSE;
  gboolean ok = run_pass(&pass, error);
  PAWL_FAULT("pull.before_commit");
  if (ok) ok = pawl_db_commit(store->db, error);
  PAWL_FAULT("pull.after_commit");
  if (!ok) {
    pawl_db_rollback(store->db);
    return FALSE;
  }
  while (given->len > 0) g_ptr_array_add(grants, g_ptr_array_steal_index(given, 0));
  *ret_result = result;
  return TRUE;
}
