/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/format.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK_BYTES (64 * 1024)

struct PawlOut {
  PawlOutOptions options;
  GString *text, *errors;
  gboolean closed, progress;
  int failed; /* errno of standard output */
};

static gint terminal_width(int fd, char **environment) {
  struct winsize size;
  gint64 columns;
  const char *text = g_environ_getenv(environment, "COLUMNS");
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (text != NULL && g_ascii_string_to_signed(text, 10, 20, 10000, &columns, NULL)) return (gint)columns;
  return 80;
}

PawlOutOptions pawl_out_detect(int fd, int error_fd, char **environment) {
  const char *no_colour = g_environ_getenv(environment, "NO_COLOR"), *term = g_environ_getenv(environment, "TERM");
  PawlOutOptions options = {.fd = fd, .error_fd = error_fd, .terminal = isatty(fd) == 1, .error_terminal = isatty(error_fd) == 1};
  options.width = options.terminal ? terminal_width(fd, environment) : 0;
  options.colour = options.terminal && (no_colour == NULL || *no_colour == '\0') && g_strcmp0(term, "dumb") != 0;
  return options;
}

PawlOut *pawl_out_new(const PawlOutOptions *options) {
  PawlOut *out = g_new0(PawlOut, 1);
  out->options = *options;
  out->text = g_string_new(NULL);
  out->errors = g_string_new(NULL);
  return out;
}

void pawl_out_free(PawlOut *out) {
  if (out == NULL) return;
  g_string_free(out->text, TRUE);
  g_string_free(out->errors, TRUE);
  g_free(out);
}

void pawl_out_set_mode(PawlOut *out, gboolean json, gboolean quiet, gboolean no_colour) {
  out->options.json = json;
  out->options.quiet = quiet;
  if (no_colour) out->options.colour = FALSE;
}

gboolean pawl_out_json_wanted(const PawlOut *out) { return out->options.json; }
gboolean pawl_out_terminal(const PawlOut *out) { return out->options.terminal; }
gint pawl_out_width(const PawlOut *out) { return out->options.width; }
gboolean pawl_out_closed(const PawlOut *out) { return out->closed || out->failed != 0; }
const char *pawl_out_gathered(const PawlOut *out) { return out->text->str; }
const char *pawl_out_gathered_errors(const PawlOut *out) { return out->errors->str; }

/* 0, or errno. */
static int write_all(int fd, const char *bytes, gsize n) {
  while (n > 0) {
    gssize wrote = write(fd, bytes, n);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EAGAIN) {
      g_usleep(1000);
      continue;
    }
    if (wrote < 0) return errno;
    bytes += wrote;
    n -= (gsize)wrote;
  }
  return 0;
}

void pawl_out_flush(PawlOut *out) {
  if (out->options.fd < 0) return;
  int failure = pawl_out_closed(out) ? 0 : write_all(out->options.fd, out->text->str, out->text->len);
  if (failure == EPIPE)
    out->closed = TRUE;
  else if (failure != 0)
    out->failed = failure;
  g_string_truncate(out->text, 0);
}

static void say(PawlOut *out, const char *line) {
  g_string_append(out->errors, line);
  if (out->options.error_fd < 0) return;
  write_all(out->options.error_fd, out->errors->str, out->errors->len); /* there is nowhere to tell a failure */
  g_string_truncate(out->errors, 0);
}

void pawl_out_progress_end(PawlOut *out) {
  if (!out->progress) return;
  out->progress = FALSE;
  say(out, "\r\033[K");
}

gboolean pawl_out_finish(PawlOut *out) {
  pawl_out_progress_end(out);
  pawl_out_flush(out);
  if (out->failed == 0) return TRUE;
  g_autofree char *line = g_strdup_printf("pawl: standard output: %s\n", g_strerror(out->failed));
  say(out, line);
  return FALSE;
}

void pawl_out_bytes(PawlOut *out, const void *bytes, gsize n) {
  g_string_append_len(out->text, bytes, (gssize)n);
  if (out->text->len >= BLOCK_BYTES) pawl_out_flush(out);
}

void pawl_out_text(PawlOut *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_string_append_vprintf(out->text, format, args);
  va_end(args);
  if (out->text->len >= BLOCK_BYTES) pawl_out_flush(out);
}

static void put_json(PawlOut *out, json_t *json, size_t flags) {
  char *text = json_dumps(json, flags | JSON_ENCODE_ANY);
  pawl_out_text(out, "%s\n", text);
  free(text);
  json_decref(json);
}

void pawl_out_json(PawlOut *out, json_t *json) { put_json(out, json, out->options.terminal ? JSON_INDENT(2) : JSON_COMPACT); }
void pawl_out_json_line(PawlOut *out, json_t *json) { put_json(out, json, JSON_COMPACT); }

static void say_line(PawlOut *out, const char *format, va_list args) G_GNUC_PRINTF(2, 0);
static void say_line(PawlOut *out, const char *format, va_list args) {
  g_autofree char *raw = g_strdup_vprintf(format, args), *text = pawl_display_text(raw), *line = g_strconcat(text, "\n", NULL);
  pawl_out_progress_end(out);
  pawl_out_flush(out);
  say(out, line);
}

void pawl_out_note(PawlOut *out, const char *format, ...) {
  va_list args;
  if (out->options.quiet || out->options.json) return;
  va_start(args, format);
  say_line(out, format, args);
  va_end(args);
}

void pawl_out_complain(PawlOut *out, const char *format, ...) {
  va_list args;
  va_start(args, format);
  say_line(out, format, args);
  va_end(args);
}

int pawl_out_error(PawlOut *out, const char *verb, const GError *error) {
  const PawlErrorInfo *info = pawl_error_info_of(error);
  if (!out->options.json) {
    pawl_out_complain(out, "pawl%s%s: %s", verb != NULL ? " " : "", verb != NULL ? verb : "", error->message);
    return info->exit_code;
  }
  json_t *body = json_object();
  pawl_json_set_text(body, "code", info->name);
  pawl_json_set_text(body, "message", error->message);
  g_autoptr(json_t) object = json_pack("{s:o}", "error", body);
  char *text = json_dumps(object, JSON_COMPACT);
  pawl_out_complain(out, "%s", text);
  free(text);
  return info->exit_code;
}

void pawl_out_progress(PawlOut *out, const char *format, ...) {
  va_list args;
  if (!out->options.error_terminal || out->options.quiet) return;
  va_start(args, format);
  g_autofree char *raw = g_strdup_vprintf(format, args), *text = pawl_display_text(raw), *line = g_strconcat("\r\033[K", text, NULL);
  va_end(args);
  pawl_out_flush(out);
  out->progress = TRUE;
  say(out, line);
}

gboolean pawl_out_can_ask(const PawlOut *out) { return out->options.error_terminal && isatty(STDIN_FILENO) == 1; }

gboolean pawl_out_ask(PawlOut *out, const char *question) {
  char answer[16];
  g_autofree char *text = pawl_display_text(question), *line = g_strconcat(text, " [y/N] ", NULL);
  pawl_out_flush(out);
  say(out, line);
  gssize n = read(STDIN_FILENO, answer, sizeof answer);
  return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

static const struct {
  PawlColour colour;
  const char *begin;
} colours[] = {
  {PAWL_COLOUR_GOOD, "\033[32m"},
  {PAWL_COLOUR_BAD, "\033[31m"},
  {PAWL_COLOUR_BUSY, "\033[36m"},
  {PAWL_COLOUR_DIM, "\033[2m"},
  {PAWL_COLOUR_BOLD, "\033[1m"},
  {PAWL_COLOUR_WARN, "\033[33m"},
};

const char *pawl_out_colour(const PawlOut *out, PawlColour colour) {
  for (gsize i = 0; out->options.colour && i < G_N_ELEMENTS(colours); i++)
    if (colours[i].colour == colour) return colours[i].begin;
  return "";
}

const char *pawl_out_plain(const PawlOut *out) { return out->options.colour ? "\033[0m" : ""; }

static const struct {
  const char *state;
  PawlColour colour;
} state_colours[] = {
  {"succeeded", PAWL_COLOUR_GOOD},
  {"failed", PAWL_COLOUR_BAD},
  {"timed_out", PAWL_COLOUR_BAD},
  {"lost", PAWL_COLOUR_BAD},
  {"cancelled", PAWL_COLOUR_WARN},
  {"running", PAWL_COLOUR_BUSY},
  {"leased", PAWL_COLOUR_BUSY},
  {"retry_wait", PAWL_COLOUR_WARN},
  {"paused", PAWL_COLOUR_WARN},
  {"quarantined", PAWL_COLOUR_BAD},
  {"exhausted", PAWL_COLOUR_DIM},
  {"disabled", PAWL_COLOUR_DIM},
  {"archived", PAWL_COLOUR_DIM},
  {"draining", PAWL_COLOUR_WARN},
  {"over", PAWL_COLOUR_WARN},
};

PawlColour pawl_state_colour(const char *state) {
  for (gsize i = 0; i < G_N_ELEMENTS(state_colours); i++)
    if (g_strcmp0(state, state_colours[i].state) == 0) return state_colours[i].colour;
  return PAWL_COLOUR_NONE;
}

void pawl_table_print(PawlTable *table, PawlOut *out) {
  g_autofree char *text = pawl_table_text(table, out->options.width, out);
  pawl_out_bytes(out, text, strlen(text));
  pawl_table_free(table);
}
