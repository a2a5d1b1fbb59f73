/* SPDX-License-Identifier: Apache-2.0 */
/* pawl logs: what a run wrote. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"
#include "cli/wait.h"
#include "worker/supervisor.h"

#include <string.h>

typedef struct {
  gboolean follow, timestamps;
  gint attempt;
  char *stream;
} LogsOptions;

static const PawlOption options[] = {
  {"follow", 'f', PAWL_OPTION_FLAG, offsetof(LogsOptions, follow), NULL, "Go on until the run ends", 0, 0, 0},
  {"attempt", 0, PAWL_OPTION_COUNT, offsetof(LogsOptions, attempt), "N", "Of this attempt only (default: all, in order)", 0, 1, 1000000},
  {"timestamps", 0, PAWL_OPTION_FLAG, offsetof(LogsOptions, timestamps), NULL, "Put the instant before each line", 0, 0, 0},
  {"stream", 0, PAWL_OPTION_TEXT, offsetof(LogsOptions, stream), "stdout|stderr", "This stream only", 0, 0, 0},
};

static const PawlExample examples[] = {
  {"pawl logs backup", "what the newest run of a task wrote"},
  {"pawl logs -f 9f3c2a1b", "follow a run, by the last 8 characters of its id"},
  {"pawl logs --attempt 2 --stream stderr backup/nightly", "one attempt, one stream"},
};

static gboolean read_stream(PawlCall *call, const char *text, gint *ret_stream, GError **error) {
  *ret_stream = 0;
  if (text == NULL) return TRUE;
  if (strcmp(text, "stdout") == 0)
    *ret_stream = PAWL_STREAM_STDOUT;
  else if (strcmp(text, "stderr") == 0)
    *ret_stream = PAWL_STREAM_STDERR;
  else
    pawl_usage_error(call, error, "--stream: '%.60s' is neither stdout nor stderr", text);
  return *ret_stream != 0;
}

static gboolean check_attempt(PawlStore *store, const PawlId *run, gint attempt, GError **error) {
  char text[PAWL_ID_TEXT];
  if (attempt == 0) return TRUE;
  PawlRunRow *row = pawl_store_run(store, run, error);
  if (row == NULL) return FALSE;
  gint n = row->attempts;
  pawl_run_row_free(row);
  if (attempt <= n) return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_NOT_FOUND, "there is no attempt %d: run %s has had %d", attempt, pawl_id_short(run, text), n);
  return FALSE;
}

static int run(PawlCall *call, GError **error) {
  const LogsOptions *given = call->options;
  PawlTail tail = {.attempt = MAX(given->attempt, 0), .only_attempt = given->attempt, .timestamps = given->timestamps};
  gboolean any = FALSE;
  if (!read_stream(call, given->stream, &tail.stream, error)) return PAWL_EXIT_USAGE;
  g_autoptr(PawlStore) store = pawl_call_store(call, PAWL_DB_READ_ONLY, error);
  if (store == NULL || !pawl_store_find_run(store, pawl_call_project(call), call->args[0], &tail.run, error)) return PAWL_EXIT_FAILED;
  if (!given->follow) {
    if (!check_attempt(store, &tail.run, given->attempt, error)) return PAWL_EXIT_FAILED;
    if (!pawl_tail_print(&tail, store, call->out, &any, error)) return PAWL_EXIT_FAILED;
    if (!any && pawl_out_terminal(call->out)) pawl_out_note(call->out, "no output is kept of this run");
    return PAWL_EXIT_OK;
  }
  pawl_signals_watch();
  PawlRunRow *row = pawl_wait_run(&tail.run, &tail, store, call->out, error);
  if (row == NULL) return PAWL_EXIT_SIGNAL_BASE + pawl_signals_seen();
  pawl_run_row_free(row);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_logs = {
  .name = "logs",
  .group = "Look",
  .summary = "Print what a run wrote",
  .synopsis = "RUN|TASK|TASK/TRIGGER",
  .description =
    "TASK means its newest run. The bytes are printed as the work wrote them, standard output and standard error in order; what was left "
    "out beyond the cap is counted at its place. -f ends when the run ends.",
  .json = "one object a line: {attempt, seq, at, stream: stdout|stderr|note, text, or base64 where it is no UTF-8}",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, LogsOptions),
  .min_args = 1,
  .max_args = 1,
  .run = run,
};
