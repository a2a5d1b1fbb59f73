/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "store/explain_private.h"

typedef struct {
  gint64 max_active, serial, leased, born_leased, paused_at_ms, pause_until_ms;
  char *pause_reason, *paused_by;
} TaskFacts;

static void task_facts_clear(TaskFacts *facts) {
  g_free(facts->pause_reason);
  g_free(facts->paused_by);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TaskFacts, task_facts_clear)

static gboolean read_task(PawlExplanation *to, TaskFacts *facts, GError **error) {
  g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, PAWL_SQL_EXPLAIN_TASK, error, PAWL_ROW(pawl_id(&to->row->task_id)));
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  facts->max_active = pawl_rows_int(rows, 0);
  facts->serial = pawl_rows_int(rows, 1);
  facts->paused_at_ms = pawl_rows_int(rows, 2);
  facts->pause_until_ms = pawl_rows_int(rows, 3);
  facts->pause_reason = g_strdup(pawl_rows_text(rows, 4));
  facts->paused_by = g_strdup(pawl_rows_text(rows, 5));
  facts->leased = pawl_rows_int(rows, 6);
  facts->born_leased = pawl_rows_int(rows, 7);
  return TRUE;
}

/* "run 1234abcd of backup (2 slots, for 3m)" */
static char *holders(PawlExplanation *to, PawlSql sql, GError **error, const PawlValue *values, gsize n) {
  GError *why = NULL;
  char text[PAWL_ID_TEXT];
  g_autoptr(GString) names = g_string_new(NULL);
  g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, sql, error, values, n);
  if (rows == NULL) return NULL;
  while (pawl_rows_next(rows, &why)) {
    PawlId run = pawl_rows_id(rows, 0);
    gint64 slots = pawl_rows_int(rows, 2);
    g_autofree char *lasting = pawl_lasting(to->now_ms - pawl_rows_int(rows, 3));
    g_string_append_printf(names, "%srun %s of %s (%" G_GINT64_FORMAT " slot%s, for %s)", names->len > 0 ? ", " : "",
      pawl_id_short(&run, text), pawl_rows_text(rows, 1), slots, slots == 1 ? "" : "s", lasting);
  }
  if (why == NULL) return g_strdup(names->len > 0 ? names->str : "nobody");
  g_propagate_error(error, why);
  return NULL;
}

static void say_paused(PawlExplanation *to, const TaskFacts *facts) {
  char since[PAWL_INSTANT_TEXT], until[PAWL_INSTANT_TEXT];
  if (facts->paused_at_ms == 0) return;
  pawl_say(to, "Task %s has been paused since %s by %s, %s%s%s%s.", to->row->task, pawl_instant_text_short(facts->paused_at_ms, since),
    facts->paused_by != NULL ? facts->paused_by : "somebody", facts->pause_until_ms != 0 ? "until " : "until it is resumed",
    facts->pause_until_ms != 0 ? pawl_instant_text_short(facts->pause_until_ms, until) : "", facts->pause_reason != NULL ? ": " : "",
    facts->pause_reason != NULL ? facts->pause_reason : "");
}

static gboolean say_max_active(PawlExplanation *to, const TaskFacts *facts, gboolean *ret_blocked, GError **error) {
  if (facts->max_active == 0 || facts->leased < facts->max_active) return TRUE;
  g_autofree char *who = holders(to, PAWL_SQL_EXPLAIN_SIBLINGS, error, PAWL_ROW(pawl_id(&to->row->task_id), PAWL_INT(0)));
  if (who == NULL) return FALSE;
  *ret_blocked = TRUE;
  pawl_say(to, "Task %s may have %" G_GINT64_FORMAT " run%s at once (max_active) and has %" G_GINT64_FORMAT ": %s.", to->row->task,
    facts->max_active, facts->max_active == 1 ? "" : "s", facts->leased, who);
  return TRUE;
}

static gboolean say_overlap(PawlExplanation *to, const TaskFacts *facts, gboolean *ret_blocked, GError **error) {
  if (facts->serial == 0 || !to->hot.trigger_born || facts->born_leased == 0) return TRUE;
  g_autofree char *who = holders(to, PAWL_SQL_EXPLAIN_SIBLINGS, error, PAWL_ROW(pawl_id(&to->row->task_id), PAWL_INT(1)));
  if (who == NULL) return FALSE;
  *ret_blocked = TRUE;
  pawl_say(to, "By its overlap rule task %s has one run born of a trigger at a time, now %s.", to->row->task, who);
  return TRUE;
}

static gboolean say_pool(PawlExplanation *to, gboolean *ret_blocked, GError **error) {
  g_autofree char *name = NULL;
  gint64 slots, used, wants = to->hot.slots;
  gboolean overridden, deleted;
  {
    g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, PAWL_SQL_EXPLAIN_POOL, error, PAWL_ROW(pawl_id(&to->hot.pool)));
    if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
    name = g_strdup(pawl_rows_text(rows, 0));
    slots = pawl_rows_int(rows, 1);
    overridden = pawl_rows_int(rows, 3) != 0;
    deleted = g_str_equal(pawl_rows_text(rows, 4), "deleted");
    used = pawl_rows_int(rows, 5);
  }
  if (deleted) {
    *ret_blocked = TRUE;
    pawl_say(to, "Pool %s was deleted: it cannot start before there is a pool of that name again (unsatisfiable).", name);
    return TRUE;
  }
  const char *how = overridden ? ", set at run time" : "";
  if (slots < 0 || used + wants <= slots) return TRUE;
  *ret_blocked = TRUE;
  if (slots == 0) {
    pawl_say(to, "Pool %s is paused: it has 0 slots%s.", name, how);
  } else if (wants > slots) {
    pawl_say(to,
      "It wants %" G_GINT64_FORMAT " slots and pool %s has %" G_GINT64_FORMAT "%s: it cannot start before the pool grows (unsatisfiable).",
      wants, name, slots, how);
  } else {
    g_autofree char *who = holders(to, PAWL_SQL_EXPLAIN_HOLDERS, error, PAWL_ROW(pawl_id(&to->hot.pool)));
    if (who == NULL) return FALSE;
    pawl_say(to,
      "Pool %s has %" G_GINT64_FORMAT " slot%s%s, %" G_GINT64_FORMAT " used, and it wants %" G_GINT64_FORMAT ". They are held by %s.", name,
      slots, slots == 1 ? "" : "s", how, used, wants, who);
  }
  return TRUE;
}

static gboolean say_queue(PawlExplanation *to, gboolean *ret_blocked, GError **error) {
  gint64 ahead;
  const PawlHotRow *hot = &to->hot;
  if (!pawl_store_int(
        to->store, PAWL_SQL_EXPLAIN_AHEAD, &ahead, error, PAWL_ROW(pawl_id(&hot->pool), PAWL_INT(hot->order_key), pawl_id(&to->row->id))))
    return FALSE;
  if (ahead == 0) return TRUE;
  *ret_blocked = TRUE;
  pawl_say(to, "%s%" G_GINT64_FORMAT " waiting run%s of its pool come%s before it.", ahead >= 100000 ? "At least " : "", ahead,
    ahead == 1 ? "" : "s", ahead == 1 ? "s" : "");
  return TRUE;
}

static gboolean say_capacity(PawlExplanation *to, gboolean *ret_blocked, GError **error) {
  gint64 holder = pawl_db_holder(to->store->db);
  if (holder == 0) {
    *ret_blocked = TRUE;
    pawl_say(to, "No `pawl up` runs on this store, so that nothing starts.");
    return TRUE;
  }
  g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, PAWL_SQL_EXPLAIN_CAPACITY, error, PAWL_NO_PARAMS);
  if (rows == NULL || !pawl_rows_next(rows, error)) return FALSE;
  gint64 sessions = pawl_rows_int(rows, 0), capacity = pawl_rows_int(rows, 1), held = pawl_rows_int(rows, 2);
  if (sessions > 0 && held < capacity) return TRUE;
  *ret_blocked = TRUE;
  if (sessions == 0)
    pawl_say(to, "No worker is connected (pid %" G_GINT64_FORMAT " only schedules, or has just come up).", holder);
  else
    pawl_say(to, "The workers have room for %" G_GINT64_FORMAT " run%s (--slots) and hold %" G_GINT64_FORMAT ".", capacity,
      capacity == 1 ? "" : "s", held);
  return TRUE;
}

static void say_wake(PawlExplanation *to) {
  const PawlHotRow *hot = &to->hot;
  char at[PAWL_INSTANT_TEXT];
  g_autofree char *left = pawl_lasting(hot->wake_ms - to->now_ms);
  pawl_instant_text_short(hot->wake_ms, at);
  const char *in = hot->wake_ms > to->now_ms ? left : "no time: it is due";
  if (g_str_equal(hot->parked, "start_at"))
    pawl_say(to, "It was asked to start at %s, in %s.", at, in);
  else if (hot->laters > 0)
    pawl_say(to, "The work asked to be run later (%" G_GINT64_FORMAT " times so far): attempt %d starts at %s, in %s.", hot->laters,
      hot->attempt, at, in);
  else
    pawl_say(to, "The retry rule gives it attempt %d at %s, in %s.", hot->attempt, at, in);
}

gboolean pawl_explain_waiting(PawlExplanation *to, GError **error) {
  g_auto(TaskFacts) facts = {0};
  const PawlHotRow *hot = &to->hot;
  char by[PAWL_INSTANT_TEXT];
  gboolean blocked = FALSE;
  if (!read_task(to, &facts, error)) return FALSE;
  if (g_strcmp0(hot->parked, "manual") == 0) {
    pawl_say(to, "Recovery has put it aside: %s. It waits for a person: cancel it, and retry it if it shall run.",
      hot->detail != NULL ? hot->detail : "drift");
    return TRUE;
  }
  say_paused(to, &facts);
  blocked = facts.paused_at_ms != 0;
  if (hot->wake_ms != 0) {
    say_wake(to);
    blocked = TRUE;
  } else if (!say_max_active(to, &facts, &blocked, error) || !say_overlap(to, &facts, &blocked, error) || !say_pool(to, &blocked, error) ||
             (hot->parked == NULL && !say_queue(to, &blocked, error))) {
    return FALSE;
  }
  if (!say_capacity(to, &blocked, error)) return FALSE;
  if (!blocked) pawl_say(to, "Nothing holds it back: it starts at the dispatcher's next look.");
  if (hot->start_by_ms != 0)
    pawl_say(to, "If it has not started by %s it is cancelled as too late (start_within).", pawl_instant_text_short(hot->start_by_ms, by));
  g_autofree char *waited = pawl_lasting(to->now_ms - hot->since_ms);
  pawl_say(to, "It has been waiting for %s.", waited);
  return TRUE;
}
