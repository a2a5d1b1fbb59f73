/* SPDX-License-Identifier: Apache-2.0 */
/* pawl cancel and pawl retry. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

typedef struct {
  char *reason;
} CancelOptions;

static const PawlOption options[] = {
  {"reason", 0, PAWL_OPTION_TEXT, offsetof(CancelOptions, reason), "TEXT", "Why, for the history", 0, 0, 0},
};

static const PawlExample cancel_examples[] = {
  {"pawl cancel 9f3c2a1b", "one run, by the last 8 characters of its id"},
  {"pawl cancel backup --reason 'disk is being replaced'", "all unfinished runs of a task"},
};
static const PawlExample retry_examples[] = {
  {"pawl retry 9f3c2a1b", "run a finished run's work again; prints the new run's id"},
};

/* One run: its id in `run`; all of a task otherwise. */
static gboolean cancel_one(PawlCall *call, PawlStore *store, const char *text, guint *ret_cancelled, GError **error) {
  const CancelOptions *given = call->options;
  g_autofree char *fallback = g_strdup_printf("cancelled by %s", pawl_store_actor(store));
  const char *reason = given->reason != NULL ? given->reason : fallback;
  g_autoptr(GError) no_task = NULL;
  PawlId run;
  if (!pawl_looks_like_run(text)) return pawl_store_cancel_task(store, pawl_call_project(call), text, reason, ret_cancelled, error);
  /* a task can have a name like an id; it goes first */
  if (strlen(text) < PAWL_ID_TEXT - 1) {
    if (pawl_store_cancel_task(store, pawl_call_project(call), text, reason, ret_cancelled, &no_task)) return TRUE;
    if (!g_error_matches(no_task, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) {
      g_propagate_error(error, g_steal_pointer(&no_task));
      return FALSE;
    }
  }
  /* a whole id needs no look-up, and so no right to read */
  if ((!pawl_id_parse(text, &run) && !pawl_store_find_run(store, pawl_call_project(call), text, &run, error)) ||
      !pawl_store_cancel_run(store, &run, reason, error))
    return FALSE;
  *ret_cancelled = 1;
  return TRUE;
}

static void report_failure(json_t *array, const char *text, const GError *why) {
  json_t *object = json_object(), *failure = json_object();
  pawl_json_set_text(failure, "code", pawl_error_info_of(why)->name);
  pawl_json_set_text(failure, "message", why->message);
  pawl_json_set_text(object, "reference", text);
  json_object_set_new(object, "cancelled", json_integer(0));
  json_object_set_new(object, "error", failure);
  json_array_append_new(array, object);
}

static void report_one(PawlCall *call, json_t *array, const char *text, guint n) {
  if (array == NULL) {
    pawl_out_note(call->out, "%s: %u run%s asked to stop", text, n, n == 1 ? "" : "s");
    return;
  }
  json_t *object = json_object();
  pawl_json_set_text(object, "reference", text);
  json_object_set_new(object, "cancelled", json_integer(n));
  json_array_append_new(array, object);
}

/* Each is tried; the first failure is what is returned, the others are said. With --json there is one document: the failures stand in the
 * array, or a single one alone. */
static int run_cancel(PawlCall *call, GError **error) {
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  g_autoptr(GError) first = NULL;
  if (store == NULL) return PAWL_EXIT_FAILED;
  json_t *array = pawl_out_json_wanted(call->out) ? json_array() : NULL;
  for (guint i = 0; i < call->n_args; i++) {
    g_autoptr(GError) why = NULL;
    guint n = 0;
    gboolean done = cancel_one(call, store, call->args[i], &n, &why);
    if (done)
      report_one(call, array, call->args[i], n);
    else if (array != NULL)
      report_failure(array, call->args[i], why);
    if (done) continue;
    if (first == NULL)
      first = g_steal_pointer(&why);
    else if (array == NULL)
      pawl_out_error(call->out, call->verb->name, why);
  }
  pawl_db_ring(pawl_store_db(store));
  if (array != NULL && (first == NULL || call->n_args > 1)) {
    pawl_out_json(call->out, array);
    return first == NULL ? PAWL_EXIT_OK : pawl_error_info_of(first)->exit_code;
  }
  if (array != NULL) json_decref(array);
  if (first != NULL) g_propagate_error(error, g_steal_pointer(&first));
  return PAWL_EXIT_OK;
}

static int run_retry(PawlCall *call, GError **error) {
  PawlId run, again;
  g_autoptr(GError) why = NULL;
  char text[PAWL_ID_TEXT];
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL) return PAWL_EXIT_FAILED;
  if (!pawl_id_parse(call->args[0], &run) && !pawl_store_find_run(store, pawl_call_project(call), call->args[0], &run, &why)) {
    if (g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND) && g_str_has_prefix(why->message, "there is no task"))
      g_set_error(
        error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no run '%.200s', nor a task of that name; see `pawl runs`", call->args[0]);
    else
      g_propagate_error(error, g_steal_pointer(&why));
    return PAWL_EXIT_FAILED;
  }
  if (!pawl_store_retry(store, &run, &again, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  if (!pawl_out_json_wanted(call->out)) {
    pawl_out_text(call->out, "%s\n", pawl_id_text(&again, text));
    return PAWL_EXIT_OK;
  }
  PawlRunRow *row = pawl_store_run(store, &again, error);
  if (row == NULL) return PAWL_EXIT_FAILED;
  pawl_out_json(call->out, pawl_json_run(row));
  pawl_run_row_free(row);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_cancel = {
  .name = "cancel",
  .group = "Run",
  .summary = "Stop a run, or all unfinished runs of a task",
  .synopsis = "RUN|TASK...",
  .description = "What waits ends at once. What runs gets TERM, and after its kill_after KILL. A run that has ended is refused.",
  .json = "an array of {reference, cancelled}, with error: {code, message} where it failed",
  PAWL_EXAMPLES(cancel_examples),
  PAWL_OPTIONS(options, CancelOptions),
  .min_args = 1,
  .max_args = -1,
  .run = run_cancel,
};

const PawlVerb pawl_verb_retry = {
  .name = "retry",
  .group = "Run",
  .summary = "Run a finished run again",
  .synopsis = "RUN",
  .description = "A new run with the same input and the task's newest revision; retry_of names the old one, which stays as it is.",
  .json = "the new run, as in `pawl runs`",
  PAWL_EXAMPLES(retry_examples),
  .min_args = 1,
  .max_args = 1,
  .run = run_retry,
};
