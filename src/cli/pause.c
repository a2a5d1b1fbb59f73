/* SPDX-License-Identifier: Apache-2.0 */
/* pawl pause, pawl resume and pawl delete. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "store/publish.h"
#include "store/runs.h"

#include <string.h>

typedef struct {
  char *until, *reason;
} PauseOptions;
typedef struct {
  gboolean catch_up;
} ResumeOptions;
typedef struct {
  gboolean yes;
} DeleteOptions;

static const PawlOption pause_options[] = {
  {"until", 0, PAWL_OPTION_TEXT, offsetof(PauseOptions, until), "INSTANT|DURATION", "Resume by itself then, or after so long", 0, 0, 0},
  {"reason", 0, PAWL_OPTION_TEXT, offsetof(PauseOptions, reason), "TEXT", "Why, for whoever asks", 0, 0, 0},
};
static const PawlOption resume_options[] = {
  {"catch-up", 0, PAWL_OPTION_FLAG, offsetof(ResumeOptions, catch_up), NULL, "Make up for what was missed, by the misfire rule", 0, 0, 0},
};
static const PawlOption delete_options[] = {
  {"yes", 'y', PAWL_OPTION_FLAG, offsetof(DeleteOptions, yes), NULL, "Do not ask on a terminal", 0, 0, 0},
};

static const PawlExample pause_examples[] = {
  {"pawl pause backup --until 2h --reason 'disk is being replaced'", "a task: its runs wait"},
  {"pawl pause backup/nightly", "a trigger: it stops firing"},
};
static const PawlExample resume_examples[] = {
  {"pawl resume backup/nightly", "go on; what was missed stays in the ledger as paused"},
  {"pawl resume backup/nightly --catch-up", "and make up for it by the misfire rule"},
};
static const PawlExample delete_examples[] = {
  {"pawl delete backup/nightly", "a trigger"},
  {"pawl delete backup --yes", "a task with its triggers; unfinished runs are cancelled, the history stays"},
};

static json_t *act_object(const PawlCall *call, const char *done) {
  json_t *object = json_object();
  pawl_json_set_text(object, "project", pawl_call_project(call));
  pawl_json_set_text(object, "reference", call->args[0]);
  pawl_json_set_text(object, "done", done);
  return object;
}

static int run_pause(PawlCall *call, GError **error) {
  const PauseOptions *given = call->options;
  gint64 until_ms = 0, now_ms;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL || !pawl_store_now(store, &now_ms, error)) return PAWL_EXIT_FAILED;
  if (given->until != NULL && !pawl_when_parse(given->until, 1, now_ms, &until_ms, error)) return PAWL_EXIT_USAGE;
  if (given->until != NULL && until_ms <= now_ms) return pawl_usage_error(call, error, "--until %s is past", given->until);
  if (!pawl_store_pause(store, pawl_call_project(call), call->args[0], until_ms, given->reason, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = act_object(call, "paused");
    pawl_json_set_instant(object, "until", until_ms);
    pawl_json_set_text(object, "reason", given->reason);
    pawl_out_json(call->out, object);
  } else {
    g_autofree char *until = pawl_when_text(until_ms, now_ms);
    pawl_out_note(
      call->out, "%s is paused %s%s", call->args[0], until_ms != 0 ? "until " : "", until_ms != 0 ? until : "until it is resumed");
  }
  return PAWL_EXIT_OK;
}

/* The task of the call's reference as it stands before the act; NULL: there is none, which the act itself says. `ret_trigger` NULL: the
 * reference names the task, or no trigger that there is. */
static PawlTaskRow *row_of(PawlCall *call, PawlStore *store, const PawlTriggerRow **ret_trigger) {
  g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_task_row_free);
  g_autofree char *name = NULL, *trigger = NULL;
  *ret_trigger = NULL;
  if (!pawl_reference_split(call->args[0], &name, &trigger, NULL)) return NULL;
  if (!pawl_store_tasks(store, pawl_call_project(call), name, rows, NULL) || rows->len == 0) return NULL;
  PawlTaskRow *task = g_ptr_array_steal_index(rows, 0);
  for (guint i = 0; trigger != NULL && i < task->triggers->len; i++) {
    const PawlTriggerRow *row = g_ptr_array_index(task->triggers, i);
    if (strcmp(row->name, trigger) == 0) *ret_trigger = row;
  }
  return task;
}

static gboolean is_held(const PawlTriggerRow *trigger) { return trigger->paused_at_ms != 0 || trigger->quarantine_until_at_ms != 0; }

static gboolean was_held(const PawlTaskRow *task, const PawlTriggerRow *trigger) {
  if (trigger != NULL) return is_held(trigger);
  if (task->paused_at_ms != 0) return TRUE;
  for (guint i = 0; i < task->triggers->len; i++)
    if (is_held(g_ptr_array_index(task->triggers, i))) return TRUE;
  return FALSE;
}

static void say_resumed(PawlCall *call, const PawlTaskRow *task, const PawlTriggerRow *trigger, gboolean held) {
  gboolean by_task = trigger != NULL && task != NULL && task->paused_at_ms != 0;
  pawl_out_note(call->out, "%s %s", call->args[0], !held ? "was not paused" : by_task ? "is not paused by itself any more" : "goes on");
  if (by_task) pawl_out_note(call->out, "its task is paused; `pawl resume %s` resumes it", task->name);
  if (trigger != NULL || task == NULL || task->paused_at_ms == 0) return;
  for (guint i = 0; i < task->triggers->len; i++) {
    const PawlTriggerRow *row = g_ptr_array_index(task->triggers, i);
    if (row->paused_at_ms != 0)
      pawl_out_note(
        call->out, "trigger %s was paused by itself and stays so; `pawl resume %s/%s` resumes it", row->name, task->name, row->name);
  }
}

static int run_resume(PawlCall *call, GError **error) {
  const ResumeOptions *given = call->options;
  const PawlTriggerRow *trigger = NULL;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL) return PAWL_EXIT_FAILED;
  g_autoptr(PawlTaskRow) task = row_of(call, store, &trigger);
  gboolean held = task == NULL || was_held(task, trigger);
  if (!pawl_store_resume(store, pawl_call_project(call), call->args[0], given->catch_up, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = act_object(call, "resumed");
    json_object_set_new(object, "catch_up", json_boolean(given->catch_up));
    json_object_set_new(object, "was_paused", json_boolean(held));
    pawl_out_json(call->out, object);
  } else {
    say_resumed(call, task, trigger, held);
  }
  return PAWL_EXIT_OK;
}

static int run_delete(PawlCall *call, GError **error) {
  const DeleteOptions *given = call->options;
  g_autofree char *question = g_strdup_printf("Delete %s? Its unfinished runs are cancelled; its history stays.", call->args[0]);
  guint n_cancelled = 0;
  if (!given->yes && pawl_out_can_ask(call->out) && !pawl_out_ask(call->out, question)) return PAWL_EXIT_FAILED;
  const PawlTriggerRow *trigger = NULL;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL) return PAWL_EXIT_FAILED;
  g_autoptr(PawlTaskRow) task = row_of(call, store, &trigger);
  if (!pawl_store_delete(store, pawl_call_project(call), call->args[0], &n_cancelled, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  if (pawl_out_json_wanted(call->out)) {
    json_t *object = act_object(call, "deleted");
    json_object_set_new(object, "cancelled", json_integer(n_cancelled));
    pawl_out_json(call->out, object);
  } else {
    pawl_out_note(
      call->out, "%s is deleted; %u unfinished run%s cancelled", call->args[0], n_cancelled, n_cancelled == 1 ? " was" : "s were");
    if (task != NULL && task->owner_mark != NULL && task->owner_mark[0] == '/')
      pawl_out_note(
        call->out, "it came from %s; while that still names it, it comes back with the next apply of that file", task->owner_mark);
  }
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_pause = {
  .name = "pause",
  .group = "Operate",
  .summary = "Pause a task or a trigger",
  .synopsis = "TASK|TASK/TRIGGER",
  .description =
    "Runs of a paused task wait; what runs already goes on. A paused trigger does not fire. A pause outlives apply and restarts.",
  .json = "{project, reference, done: \"paused\", until, reason}",
  PAWL_EXAMPLES(pause_examples),
  PAWL_OPTIONS(pause_options, PauseOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run_pause,
};
const PawlVerb pawl_verb_resume = {
  .name = "resume",
  .group = "Operate",
  .summary = "Resume a paused task or trigger",
  .synopsis = "TASK|TASK/TRIGGER",
  .json = "{project, reference, done: \"resumed\", catch_up, was_paused}",
  PAWL_EXAMPLES(resume_examples),
  PAWL_OPTIONS(resume_options, ResumeOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run_resume,
};
const PawlVerb pawl_verb_delete = {
  .name = "delete",
  .group = "Operate",
  .summary = "Delete a task or a trigger",
  .synopsis = "TASK|TASK/TRIGGER",
  .description = "On a terminal it asks first. Made again later, a trigger goes on where it was: no instant is run twice.",
  .json = "{project, reference, done: \"deleted\", cancelled}",
  PAWL_EXAMPLES(delete_examples),
  PAWL_OPTIONS(delete_options, DeleteOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run_delete,
};
