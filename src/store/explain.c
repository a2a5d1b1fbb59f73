/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run stands where it stands. Each sentence is made of stored facts and the numbers that the dispatcher compares; what matters most
 * comes first. */
#include "base/clock.h"
#include "store/explain_private.h"

#include <string.h>

void pawl_say(PawlExplanation *to, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_ptr_array_add(to->sentences, g_strdup_vprintf(format, args));
  va_end(args);
}

char *pawl_lasting(gint64 ms) { return pawl_duration_text(ms >= 10 * PAWL_SECOND_MS ? ms / PAWL_SECOND_MS * PAWL_SECOND_MS : MAX(ms, 0)); }

static gboolean read_hot(PawlStore *store, const PawlId *run, PawlHotRow *hot, GError **error) {
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(store->db, PAWL_SQL_EXPLAIN_HOT, error, PAWL_ROW(pawl_id(run)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &why)) {
    g_strlcpy(hot->stand, pawl_rows_text(rows, 0), sizeof hot->stand);
    hot->attempt = (gint)pawl_rows_int(rows, 1);
    hot->pool = pawl_rows_id(rows, 2);
    hot->slots = pawl_rows_int(rows, 3);
    hot->order_key = pawl_rows_int(rows, 4);
    hot->trigger_born = pawl_rows_int(rows, 5) != 0;
    hot->since_ms = pawl_rows_int(rows, 6);
    hot->start_by_ms = pawl_rows_int(rows, 7);
    hot->laters = pawl_rows_int(rows, 8);
    hot->parked = g_strdup(pawl_rows_text(rows, 9));
    hot->detail = g_strdup(pawl_rows_text(rows, 10));
    hot->wake_ms = pawl_rows_int(rows, 11);
    hot->session = pawl_rows_id(rows, 12);
    hot->acquired_ms = pawl_rows_int(rows, 13);
    hot->expires_ms = pawl_rows_int(rows, 14);
    hot->started_ms = pawl_rows_int(rows, 15);
    hot->pid = pawl_rows_int(rows, 16);
  }
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean say_worker(PawlExplanation *to, GError **error) {
  char since[PAWL_INSTANT_TEXT], expires[PAWL_INSTANT_TEXT];
  const PawlHotRow *hot = &to->hot;
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, PAWL_SQL_EXPLAIN_WORKER, error, PAWL_ROW(pawl_id(&hot->session)));
  if (rows == NULL) return FALSE;
  const char *name = pawl_rows_next(rows, &why) ? pawl_rows_text(rows, 0) : "an unknown worker";
  gint64 from_ms = hot->started_ms != 0 ? hot->started_ms : hot->acquired_ms;
  if (why == NULL && pawl_db_holder(to->store->db) == 0) {
    pawl_say(to, "Attempt %d %s when pawl went away; it is settled at the next start.", hot->attempt,
      hot->started_ms != 0 ? "was running" : "had been given to a worker");
    return TRUE;
  }
  g_autofree char *lasting = pawl_lasting(to->now_ms - from_ms);
  if (hot->started_ms == 0)
    pawl_say(to, "Attempt %d was given to worker %s %s ago and has not reported its start yet.", hot->attempt, name, lasting);
  else if (hot->pid != 0)
    pawl_say(to, "Attempt %d has been running for %s, since %s, on worker %s (runner pid %" G_GINT64_FORMAT ").", hot->attempt, lasting,
      pawl_instant_text_short(from_ms, since), name, hot->pid);
  else
    pawl_say(to, "Attempt %d has been running for %s, since %s, on worker %s.", hot->attempt, lasting,
      pawl_instant_text_short(from_ms, since), name);
  if (hot->expires_ms <= to->now_ms)
    pawl_say(to, "Its lease ran out at %s: once its processes are proved dead, recovery settles it.",
      pawl_instant_text_short(hot->expires_ms, expires));
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static gboolean say_cancel(PawlExplanation *to, GError **error) {
  char at[PAWL_INSTANT_TEXT];
  GError *why = NULL;
  g_autoptr(PawlRows) rows = pawl_db_query(to->store->db, PAWL_SQL_EXPLAIN_CANCEL, error, PAWL_ROW(pawl_id(&to->row->id)));
  if (rows == NULL) return FALSE;
  if (pawl_rows_next(rows, &why))
    pawl_say(to, "A cancel was asked for at %s by %s (%s); its worker stops the work.", pawl_instant_text_short(pawl_rows_int(rows, 0), at),
      pawl_rows_is_null(rows, 1) ? "somebody" : pawl_rows_text(rows, 1), pawl_rows_text(rows, 2));
  if (why == NULL) return TRUE;
  g_propagate_error(error, why);
  return FALSE;
}

static void say_attempt(PawlExplanation *to, const PawlAttemptRow *attempt) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_append_printf(text, "Attempt %d %s%s", attempt->attempt, g_str_equal(attempt->state, "lost") ? "was " : "",
    g_str_equal(attempt->state, "timed_out") ? "timed out" : attempt->state);
  if (g_str_equal(attempt->state, "cancelled")) g_string_printf(text, "Attempt %d was cancelled", attempt->attempt);
  if (attempt->exit_code > 0) g_string_append_printf(text, " with exit code %d", attempt->exit_code);
  if (attempt->signal != 0) g_string_append_printf(text, " by signal %d", attempt->signal);
  if (attempt->started_at_ms != 0) {
    g_autofree char *took = pawl_lasting(attempt->finished_at_ms - attempt->started_at_ms);
    g_string_append_printf(text, " after %s", took);
  } else {
    g_string_append(text, " without having been started");
  }
  if (attempt->reason != NULL) g_string_append_printf(text, ": %s", attempt->reason);
  gboolean said = attempt->reason != NULL && strstr(attempt->reason, "part of its work") != NULL;
  gboolean partly = g_str_equal(attempt->state, "lost") && attempt->started_at_ms != 0 && !said;
  g_string_append(text, partly ? ". It may have done part of its work." : ".");
  g_ptr_array_add(to->sentences, g_string_free(g_steal_pointer(&text), FALSE));
}

static gboolean say_attempts(PawlExplanation *to, GError **error) {
  g_autoptr(GPtrArray) attempts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_attempt_row_free);
  if (!pawl_store_attempts(to->store, &to->row->id, attempts, error)) return FALSE;
  for (guint i = attempts->len; i-- > 0;) {
    const PawlAttemptRow *attempt = g_ptr_array_index(attempts, i);
    if (attempt->finished_at_ms != 0) say_attempt(to, attempt);
  }
  return TRUE;
}

static void say_end(PawlExplanation *to) {
  const PawlRunRow *row = to->row;
  char at[PAWL_INSTANT_TEXT];
  const char *state = row->state == PAWL_RUN_TIMED_OUT   ? "timed out"
                      : row->state == PAWL_RUN_CANCELLED ? "was cancelled"
                                                         : pawl_run_state_name(row->state);
  if (row->finished_at_ms == 0) {
    pawl_say(to, "Nothing says where this run stands: %s.", row->reason != NULL ? row->reason : "it is drift");
    return;
  }
  pawl_say(to, "The run %s at %s, in attempt %d.", state, pawl_instant_text_short(row->finished_at_ms, at), row->attempts);
}

static void say_origin(PawlExplanation *to) {
  const PawlRunRow *row = to->row;
  char nominal[PAWL_INSTANT_TEXT], queued[PAWL_INSTANT_TEXT], other[PAWL_ID_TEXT];
  pawl_instant_text_short(row->queued_at_ms, queued);
  if (g_str_equal(row->origin, "schedule"))
    pawl_say(to, "It is the run of %s/%s for %s, admitted at %s.", row->task, row->trigger,
      pawl_instant_text_short(row->nominal_at_ms, nominal), queued);
  else if (g_str_equal(row->origin, "retry"))
    pawl_say(to, "It repeats run %s; %s asked for it at %s.", pawl_id_short(&row->retry_of, other),
      row->requested_by != NULL ? row->requested_by : "somebody", queued);
  else
    pawl_say(to, "%s asked for it at %s (%s).", row->requested_by != NULL ? row->requested_by : "Somebody", queued, row->origin);
}

static gboolean explain_all(PawlExplanation *to, GError **error) {
  if (!pawl_store_now(to->store, &to->now_ms, error) || !read_hot(to->store, &to->row->id, &to->hot, error)) return FALSE;
  gboolean ok;
  if (to->hot.stand[0] == '\0') {
    say_end(to);
    ok = say_attempts(to, error);
  } else if (g_str_equal(to->hot.stand, "leased")) {
    ok = say_cancel(to, error) && say_worker(to, error) && say_attempts(to, error);
  } else {
    ok = pawl_explain_waiting(to, error) && say_attempts(to, error);
  }
  if (ok) say_origin(to);
  return ok;
}

gboolean pawl_store_explain_run(PawlStore *store, const PawlId *run, GPtrArray *sentences, GError **error) {
  g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free);
  PawlExplanation to = {.store = store, .sentences = made};
  if (!pawl_db_begin(store->db, PAWL_TX_READ, error)) return FALSE;
  to.row = pawl_store_run(store, run, error);
  gboolean ok = to.row != NULL && explain_all(&to, error);
  pawl_db_rollback(store->db);
  pawl_run_row_free(to.row);
  g_free(to.hot.parked);
  g_free(to.hot.detail);
  if (ok) g_ptr_array_extend_and_steal(sentences, g_steal_pointer(&made));
  return ok;
}
