/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wait.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/shapes.h"
#include "worker/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

#define STEP_MIN_MS 50
#define STEP_MAX_MS 250

static volatile sig_atomic_t seen;

static void mark_signal(int signal) { seen = signal; }

void pawl_signals_watch(void) {
  struct sigaction action = {.sa_handler = mark_signal};
  seen = 0;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

int pawl_signals_seen(void) { return seen; }

void pawl_wait_step(gint64 *step_ms) {
  *step_ms = CLAMP(*step_ms + *step_ms / 2, STEP_MIN_MS, STEP_MAX_MS);
  poll(NULL, 0, (int)*step_ms);
}

static const char *stream_name(gint stream) {
  return stream == PAWL_STREAM_STDOUT ? "stdout" : stream == PAWL_STREAM_STDERR ? "stderr" : "note";
}

static void print_json_part(PawlOut *out, const PawlOutputPart *part, const char *bytes, gsize n) {
  json_t *object = json_object();
  json_object_set_new(object, "attempt", json_integer(part->attempt));
  json_object_set_new(object, "seq", json_integer(part->seq));
  pawl_json_set_instant(object, "at", part->at_ms);
  pawl_json_set_text(object, "stream", stream_name(part->stream));
  if (g_utf8_validate(bytes, (gssize)n, NULL)) { /* a NUL is no valid text here either */
    json_object_set_new(object, "text", json_stringn(bytes, n));
  } else {
    g_autofree char *encoded = g_base64_encode((const guchar *)bytes, n);
    pawl_json_set_text(object, "base64", encoded);
  }
  pawl_out_json_line(out, object);
}

/* Each line gets the time of the part that it is in. */
static void print_stamped(PawlOut *out, const PawlOutputPart *part, const char *bytes, gsize n) {
  char at[PAWL_INSTANT_TEXT];
  pawl_instant_text(part->at_ms, at);
  while (n > 0) {
    const char *end = memchr(bytes, '\n', n);
    gsize line = end != NULL ? (gsize)(end - bytes) : n;
    pawl_out_text(out, "%s ", at);
    pawl_out_bytes(out, bytes, line);
    pawl_out_bytes(out, "\n", 1);
    gsize used = end != NULL ? line + 1 : line;
    bytes += used;
    n -= used;
  }
}

/* A note of what was left out gets a line of its own. */
static void print_bytes(PawlTail *tail, const PawlOutputPart *part, const char *bytes, gsize n, PawlOut *out) {
  gboolean note = part->stream != PAWL_STREAM_STDOUT && part->stream != PAWL_STREAM_STDERR;
  if (n == 0) return;
  if (note && tail->within_line) pawl_out_bytes(out, "\n", 1);
  pawl_out_bytes(out, bytes, n);
  tail->within_line = bytes[n - 1] != '\n';
  if (!note || !tail->within_line) return;
  pawl_out_bytes(out, "\n", 1);
  tail->within_line = FALSE;
}

static void print_part(PawlTail *tail, const PawlOutputPart *part, PawlOut *out) {
  gsize n;
  const char *bytes = g_bytes_get_data(part->bytes, &n);
  if (tail->stream != 0 && part->stream != tail->stream) return;
  if (pawl_out_json_wanted(out))
    print_json_part(out, part, bytes, n);
  else if (tail->timestamps)
    print_stamped(out, part, bytes, n);
  else
    print_bytes(tail, part, bytes, n, out);
}

gboolean pawl_tail_print(PawlTail *tail, PawlStore *store, PawlOut *out, gboolean *ret_any, GError **error) {
  if (ret_any != NULL) *ret_any = FALSE;
  while (!pawl_out_closed(out)) {
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_output_part_free);
    if (!pawl_store_output(store, &tail->run, tail->attempt, tail->seq, parts, error)) return FALSE;
    if (parts->len == 0) break;
    for (guint i = 0; i < parts->len; i++) {
      const PawlOutputPart *part = g_ptr_array_index(parts, i);
      tail->attempt = part->attempt;
      tail->seq = part->seq;
      if (tail->only_attempt != 0 && part->attempt > tail->only_attempt) return TRUE;
      print_part(tail, part, out);
      if (ret_any != NULL) *ret_any = TRUE;
    }
    pawl_out_flush(out);
  }
  return TRUE;
}

int pawl_run_exit_code(const PawlRunRow *run) {
  if (run->state == PAWL_RUN_SUCCEEDED) return PAWL_EXIT_OK;
  if (run->state == PAWL_RUN_TIMED_OUT) return PAWL_EXIT_TIMED_OUT;
  if (run->state == PAWL_RUN_CANCELLED) return PAWL_EXIT_FAILED;
  if (run->signal > 0) return PAWL_EXIT_SIGNAL_BASE + run->signal;
  return run->exit_code > 0 ? run->exit_code : PAWL_EXIT_FAILED;
}

PawlRunRow *pawl_wait_run(const PawlId *run, PawlTail *tail, PawlStore *store, PawlOut *out, GError **error) {
  gint64 step_ms = 0;
  while (pawl_signals_seen() == 0) {
    gboolean any = FALSE;
    /* the state is read before the output, so that a run that has ended has all of its output printed */
    PawlRunRow *row = pawl_store_run(store, run, error);
    if (row == NULL) return NULL;
    gboolean printed = tail == NULL || pawl_tail_print(tail, store, out, &any, error);
    if (printed && (pawl_run_state_is_end(row->state) || pawl_out_closed(out))) return row;
    pawl_run_row_free(row);
    if (!printed) return NULL;
    if (any) step_ms = 0;
    pawl_wait_step(&step_ms);
  }
  return NULL;
}
