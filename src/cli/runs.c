/* SPDX-License-Identifier: Apache-2.0 */
/* pawl runs: the history. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <string.h>

typedef struct {
  char *task, *trigger, *origin, *since;
  char **states;
  gint limit;
} RunsOptions;

static const PawlOption options[] = {
  {"task", 't', PAWL_OPTION_TEXT, offsetof(RunsOptions, task), "TASK", "Runs of this task only", 0, 0, 0},
  {"trigger", 0, PAWL_OPTION_TEXT, offsetof(RunsOptions, trigger), "TRIGGER",
    "Runs of this trigger only: TASK/TRIGGER, or its name with --task", 0, 0, 0},
  {"state", 0, PAWL_OPTION_TEXTS, offsetof(RunsOptions, states), "STATE,...", "In one of these states; repeatable", 0, 0, 0},
  {"origin", 0, PAWL_OPTION_TEXT, offsetof(RunsOptions, origin), "ORIGIN", "schedule, manual, api, sql, event, retry or backfill", 0, 0, 0},
  {"since", 0, PAWL_OPTION_TEXT, offsetof(RunsOptions, since), "INSTANT|DURATION", "Queued since then, or within so long", 0, 0, 0},
  {"limit", 'n', PAWL_OPTION_COUNT, offsetof(RunsOptions, limit), "N", "At most so many, the newest first (default 50)", 50, 1, 10000000},
};

static const PawlExample examples[] = {
  {"pawl runs --task backup", "the newest runs of a task"},
  {"pawl runs --state failed,timed_out --since 24h", "what went wrong since yesterday"},
  {"pawl runs --trigger backup/nightly --limit 1000 --json", "a trigger's history for a program"},
};

static const char *const origins[] = {"schedule", "manual", "api", "sql", "event", "retry", "backfill", NULL};

static gboolean read_states(PawlCall *call, GArray *states, GError **error) {
  const RunsOptions *given = call->options;
  for (guint i = 0; given->states != NULL && given->states[i] != NULL; i++) {
    g_auto(GStrv) words = g_strsplit(given->states[i], ",", -1);
    for (guint j = 0; words[j] != NULL; j++) {
      PawlRunState state;
      if (!pawl_run_state_parse(g_strstrip(words[j]), &state)) {
        pawl_usage_error(call, error,
          "--state: '%.60s' is none of scheduled, queued, running, retry_wait, succeeded, failed, cancelled, timed_out", words[j]);
        return FALSE;
      }
      g_array_append_val(states, state);
    }
  }
  return TRUE;
}

/* The task and the trigger that are asked for; --trigger TASK/TRIGGER names both. */
static gboolean read_names(PawlCall *call, char **ret_task, char **ret_trigger, GError **error) {
  const RunsOptions *given = call->options;
  g_autofree char *task = g_strdup(given->task), *trigger = g_strdup(given->trigger);
  if (trigger != NULL && strchr(trigger, '/') != NULL) {
    g_autofree char *owner = NULL, *name = NULL;
    if (!pawl_reference_split(trigger, &owner, &name, error)) return FALSE;
    if (task != NULL && strcmp(task, owner) != 0) {
      pawl_usage_error(call, error, "--task %s and --trigger %s are of different tasks", task, trigger);
      return FALSE;
    }
    g_free(task);
    g_free(trigger);
    task = g_steal_pointer(&owner);
    trigger = g_steal_pointer(&name);
  }
  *ret_task = g_steal_pointer(&task);
  *ret_trigger = g_steal_pointer(&trigger);
  return TRUE;
}

static int run(PawlCall *call, GError **error) {
  const RunsOptions *given = call->options;
  g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(PawlRunState));
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_run_row_free);
  g_autofree char *task = NULL, *trigger = NULL;
  gint64 now_ms, since_ms = 0;
  if (given->origin != NULL && !g_strv_contains(origins, given->origin))
    return pawl_usage_error(call, error, "--origin: '%.60s' is none of schedule, manual, api, sql, event, retry, backfill", given->origin);
  if (!read_states(call, states, error) || !read_names(call, &task, &trigger, error)) return PAWL_EXIT_USAGE;
  if (given->since != NULL && !pawl_when_parse(given->since, -1, pawl_clock_wall_ms(), &since_ms, error)) return PAWL_EXIT_USAGE;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_now(store, &now_ms, error)) return PAWL_EXIT_FAILED;
  PawlRunFilter filter = {.project = task != NULL || trigger != NULL ? pawl_call_project(call) : pawl_call_project_if_set(call),
    .task = task,
    .trigger = trigger,
    .origin = given->origin,
    .states = (const PawlRunState *)(void *)states->data,
    .n_states = states->len,
    .since_ms = since_ms,
    .limit = given->limit};
  if (!pawl_store_runs(store, &filter, rows, error)) return PAWL_EXIT_FAILED;
  if (pawl_out_json_wanted(call->out)) {
    json_t *array = json_array();
    for (guint i = 0; i < rows->len; i++) json_array_append_new(array, pawl_json_run(g_ptr_array_index(rows, i)));
    pawl_out_json(call->out, array);
  } else if (rows->len == 0) {
    pawl_out_note(call->out, "no runs");
  } else {
    pawl_print_runs(call->out, rows, now_ms, pawl_db_holder(pawl_store_db(store)) == 0);
  }
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_runs = {
  .name = "runs",
  .group = "Look",
  .summary = "List runs, the newest first",
  .synopsis = "",
  .description = "A run is one execution that was asked for, by a trigger or by somebody; its retries are attempts of it.",
  .json =
    "an array of {run_id, project, task, trigger, origin, nominal_at, state, attempts, queued_at, started_at, finished_at, exit_code, "
    "reason, signal, retry_of, requested_by, task_revision}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, RunsOptions),
  .run = run,
};
