/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"
#include "base/json.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
  PawlLogLevel max_level;
  PawlLogFormat format;
  gboolean journal, colour;
} setup = {.max_level = PAWL_LOG_INFO};

static const struct {
  PawlLogLevel level;
  const char *name, *colour;
} levels[] = {
  {PAWL_LOG_ERROR, "error", "\033[31m"},
  {PAWL_LOG_WARNING, "warning", "\033[33m"},
  {PAWL_LOG_NOTICE, "notice", "\033[1m"},
  {PAWL_LOG_INFO, "info", ""},
  {PAWL_LOG_DEBUG, "debug", "\033[2m"},
};

static gsize level_row(PawlLogLevel level) {
  for (gsize i = 0; i < G_N_ELEMENTS(levels); i++)
    if (levels[i].level == level) return i;
  return G_N_ELEMENTS(levels) - 1;
}

gboolean pawl_log_level_parse(const char *text, PawlLogLevel *ret_level) {
  for (gsize i = 0; i < G_N_ELEMENTS(levels); i++)
    if (strcmp(levels[i].name, text) == 0) {
      *ret_level = levels[i].level;
      return TRUE;
    }
  return FALSE;
}

void pawl_log_setup(PawlLogLevel max_level, PawlLogFormat format) {
  const char *no_colour = getenv("NO_COLOR");
  setup.max_level = max_level;
  setup.format = format;
  setup.journal = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO);
  setup.colour = format == PAWL_LOG_TEXT && isatty(STDERR_FILENO) && (no_colour == NULL || *no_colour == '\0');
}

static void append_json(GString *line, gsize row, const char *event, const char *message, va_list args) {
  char at[PAWL_INSTANT_TEXT];
  json_t *object = json_object();
  pawl_json_set_text(object, "at", pawl_instant_text(pawl_clock_wall_ms(), at));
  pawl_json_set_text(object, "level", levels[row].name);
  pawl_json_set_text(object, "event", event);
  pawl_json_set_text(object, "message", message);
  for (const char *key = va_arg(args, const char *); key != NULL; key = va_arg(args, const char *)) {
    const char *value = va_arg(args, const char *);
    if (value != NULL) pawl_json_set_text(object, key, value);
  }
  char *text = json_dumps(object, JSON_COMPACT);
  g_string_append(line, text);
  free(text);
  json_decref(object);
}

/* A value that holds blanks or control characters is quoted, so that a line stays a line. */
static void append_value(GString *line, const char *value) {
  gboolean plain = *value != '\0';
  for (const char *p = value; *p != '\0' && plain; p++) plain = g_ascii_isgraph(*p) || (guchar)*p >= 0x80;
  if (plain) {
    g_string_append(line, value);
    return;
  }
  g_autofree char *escaped = g_strescape(value, NULL);
  g_string_append_printf(line, "\"%s\"", escaped);
}

static void append_text(GString *line, gsize row, const char *message, va_list args) {
  time_t now = (time_t)(pawl_clock_wall_ms() / 1000);
  struct tm tm;
  char at[32];
  localtime_r(&now, &tm);
  strftime(at, sizeof at, "%H:%M:%S", &tm);
  if (!setup.journal) g_string_append_printf(line, "%s ", at);
  if (setup.colour) g_string_append(line, levels[row].colour);
  if (levels[row].level <= PAWL_LOG_WARNING) g_string_append_printf(line, "%s: ", levels[row].name);
  g_string_append(line, message);
  if (setup.colour && *levels[row].colour != '\0') g_string_append(line, "\033[0m");
  for (const char *key = va_arg(args, const char *); key != NULL; key = va_arg(args, const char *)) {
    const char *value = va_arg(args, const char *);
    if (value == NULL) continue;
    g_string_append_printf(line, " %s=", key);
    append_value(line, value);
  }
}

void pawl_log(PawlLogLevel level, const char *event, const char *message, ...) {
  if (level > setup.max_level) return;
  gsize row = level_row(level);
  g_autoptr(GString) line = g_string_new(NULL);
  if (setup.journal) g_string_append_printf(line, "<%d>", (int)level);
  va_list args;
  va_start(args, message);
  if (setup.format == PAWL_LOG_JSON)
    append_json(line, row, event, message, args);
  else
    append_text(line, row, message, args);
  va_end(args);
  g_string_append_c(line, '\n');
  gssize ignored = write(STDERR_FILENO, line->str, line->len);
  (void)ignored;
}
