/* SPDX-License-Identifier: Apache-2.0 */
/* pawl run: asks for a run, and waits for it on demand. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "cli/wait.h"

#include <string.h>

typedef struct {
  gboolean wait, follow;
  char *input, *input_file, *at;
  gint priority;
} RunOptions;

#define NO_PRIORITY G_MININT

static const PawlOption options[] = {
  {"wait", 'w', PAWL_OPTION_FLAG, offsetof(RunOptions, wait), NULL, "Wait for its end, and exit as it did", 0, 0, 0},
  {"follow", 'f', PAWL_OPTION_FLAG, offsetof(RunOptions, follow), NULL, "As --wait, and print what it writes", 0, 0, 0},
  {"input", 0, PAWL_OPTION_TEXT, offsetof(RunOptions, input), "TEXT", "Its standard input", 0, 0, 0},
  {"input-file", 0, PAWL_OPTION_FILE, offsetof(RunOptions, input_file), "FILE", "Its standard input, from a file; - is standard input", 0,
    0, 0},
  {"at", 0, PAWL_OPTION_TEXT, offsetof(RunOptions, at), "INSTANT|DURATION", "Not before this instant, or in so long", 0, 0, 0},
  {"priority", 0, PAWL_OPTION_COUNT, offsetof(RunOptions, priority), "N", "-1000 to 1000, instead of the task's; more is earlier",
    NO_PRIORITY, PAWL_PRIORITY_MIN, PAWL_PRIORITY_MAX},
};

static const PawlExample examples[] = {
  {"pawl run backup", "ask for a run now; prints its id"},
  {"pawl run --wait backup", "and exit with the task's own code"},
  {"pawl run --follow --input 'full' backup", "with an input, printing what it writes"},
  {"pawl run --at 2h backup", "in two hours"},
};

static gboolean read_input(PawlCall *call, char **ret_input, GError **error) {
  const RunOptions *given = call->options;
  gsize bytes;
  if (given->input != NULL && given->input_file != NULL) {
    pawl_usage_error(call, error, "--input and --input-file exclude each other");
    return FALSE;
  }
  if (given->input_file == NULL) {
    *ret_input = g_strdup(given->input);
    return TRUE;
  }
  g_autofree char *text = NULL;
  if (!pawl_read_file(given->input_file, &text, &bytes, error)) return FALSE;
  if (bytes > PAWL_FILE_MAX_BYTES || !g_utf8_validate(text, (gssize)bytes, NULL)) {
    pawl_usage_error(call, error, "--input-file: an input is UTF-8 text of at most %d bytes", PAWL_FILE_MAX_BYTES);
    return FALSE;
  }
  *ret_input = g_steal_pointer(&text);
  return TRUE;
}

static void print_asked(PawlCall *call, PawlStore *store, const PawlId *id) {
  const RunOptions *given = call->options;
  char text[PAWL_ID_TEXT];
  pawl_id_text(id, text);
  if (pawl_db_holder(pawl_store_db(store)) == 0)
    pawl_out_complain(call->out, "no `pawl up` runs on this store; the run waits until one is started");
  if (given->follow)
    pawl_out_note(call->out, "%s", text);
  else if (!pawl_out_json_wanted(call->out))
    pawl_out_text(call->out, "%s\n", text);
  pawl_out_flush(call->out);
}

/* Why a run that did not succeed ended so, on standard error. */
static void say_end(PawlOut *out, const PawlRunRow *run) {
  g_autofree char *outcome = pawl_run_outcome(run);
  const char *state = pawl_run_state_name(run->state);
  if (run->state == PAWL_RUN_SUCCEEDED) return;
  pawl_out_note(out, "%s %s%s%s", run->task, state, *outcome != '\0' ? ": " : "", outcome);
}

static int wait_for(PawlCall *call, PawlStore *store, const PawlId *id, GError **error) {
  const RunOptions *given = call->options;
  PawlTail tail = {.run = *id};
  char text[PAWL_ID_TEXT];
  PawlRunRow *row = pawl_wait_run(id, given->follow ? &tail : NULL, store, call->out, error);
  if (row == NULL && *error != NULL) return PAWL_EXIT_FAILED;
  if (row == NULL) {
    pawl_id_text(id, text);
    pawl_out_complain(
      call->out, "interrupted; the run goes on (`pawl logs -f %s`, `pawl cancel %s`)", pawl_id_short(id, text), pawl_id_short(id, text));
    return PAWL_EXIT_SIGNAL_BASE + pawl_signals_seen();
  }
  if (!pawl_run_state_is_end(row->state)) { /* whoever read the output is gone */
    pawl_run_row_free(row);
    return PAWL_EXIT_OK;
  }
  if (pawl_out_json_wanted(call->out))
    pawl_out_json(call->out, pawl_json_run(row));
  else
    say_end(call->out, row);
  int code = pawl_run_exit_code(row);
  pawl_run_row_free(row);
  return code;
}

static int run(PawlCall *call, GError **error) {
  const RunOptions *given = call->options;
  g_autofree char *input = NULL;
  g_autoptr(GError) why = NULL;
  PawlEnqueue request = {.project = pawl_call_project(call), .task = call->args[0], .origin = "manual"};
  PawlId id;
  if (given->follow && pawl_out_json_wanted(call->out))
    return pawl_usage_error(call, error, "--follow prints raw output; use --wait with --json");
  if (!read_input(call, &input, error)) return PAWL_EXIT_USAGE;
  if (given->at != NULL && !pawl_when_parse(given->at, 1, pawl_clock_wall_ms(), &request.start_at_ms, error)) return PAWL_EXIT_USAGE;
  request.input = input;
  if (given->priority != NO_PRIORITY) request.priority = &given->priority;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_WRITE, error);
  if (store == NULL) return PAWL_EXIT_FAILED;
  if (given->wait || given->follow) pawl_signals_watch();
  if (!pawl_store_enqueue(store, &request, &id, error)) return PAWL_EXIT_FAILED;
  pawl_db_ring(pawl_store_db(store));
  print_asked(call, store, &id);
  if (given->wait || given->follow) {
    int code = wait_for(call, store, &id, &why);
    if (why != NULL) g_propagate_error(error, g_steal_pointer(&why));
    return code;
  }
  if (!pawl_out_json_wanted(call->out)) return PAWL_EXIT_OK;
  PawlRunRow *row = pawl_store_run(store, &id, error);
  if (row == NULL) return PAWL_EXIT_FAILED;
  pawl_out_json(call->out, pawl_json_run(row));
  pawl_run_row_free(row);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_run = {
  .name = "run",
  .group = "Run",
  .summary = "Run a task now",
  .synopsis = "TASK",
  .description =
    "Prints the run's id once the request is durable. With --wait the exit code is the task's own; 124: it timed out, 128+n: signal n ended it, "
    "1: it was cancelled or could not be started. Ctrl-C leaves the run alone and exits with 130.",
  .json = "the run as in `pawl runs`: as it stands at once, or with --wait at its end",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, RunOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run,
};
