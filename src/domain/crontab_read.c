/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a crontab, after crontab(5): blank, comment, NAME = VALUE, or five fields (or @word) and what to run. A variable holds
 * for the lines below it. Two things cron itself cannot read are read here: lines that end in CR LF, and a last line without a newline. */
#include "base/text.h"
#include "domain/crontab.h"

#include "base/clock.h"

#include <string.h>

#define LINE_MAX_BYTES (64 * 1024)
#define VARIABLES_MAX 256
#define VARIABLES_MAX_BYTES (PAWL_ARGV_MAX_BYTES - 1024) /* PATH and SHELL are added */
#define RECEIVER_MAX_BYTES 1024
#define PATH_MAX_BYTES 4094
#define DELAY_MAX_MINUTES (24 * 60)

typedef struct {
  const PawlCrontabOptions *options;
  GPtrArray *issues, *lines;
  json_t *env; /* replaced, never changed, once a line refers to it */
  char *zone;
  gint64 delay_ms;
  gint number; /* of the current line */
} Reading;

void pawl_crontab_line_free(gpointer data) {
  PawlCrontabLine *line = data;
  g_free(line->expression);
  g_free(line->rest);
  g_free(line->zone);
  json_decref(line->env);
  g_free(line);
}

static void say(Reading *r, gboolean warning, gint column, const char *hint, const char *format, ...) G_GNUC_PRINTF(5, 6);
static void say(Reading *r, gboolean warning, gint column, const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  pawl_issues_add(r->issues, warning, r->options->file, (PawlPlace){r->number, column}, NULL, hint, "%s", message);
}

static gint column_of(const char *line, const char *at) { return (gint)g_utf8_pointer_to_offset(line, at) + 1; }

/* ---- variables ---- */

static void set_zone(Reading *r, const char *value) {
  g_autoptr(GError) error = NULL;
  PawlZone *zone = *value == '\0' ? NULL : pawl_zone_new(value, &error);
  if (error != NULL) {
    say(r, FALSE, 1, NULL, "CRON_TZ: %s", error->message);
    return;
  }
  g_clear_pointer(&zone, pawl_zone_unref);
  g_free(r->zone);
  r->zone = g_strdup(*value == '\0' ? r->options->host_zone : value);
}

gboolean pawl_crontab_is_path(const char *value) { return *value == '/' && strlen(value) <= PATH_MAX_BYTES; }

gboolean pawl_crontab_is_receiver(const char *mailto) {
  if (*mailto == '\0' || *mailto == '-' || strlen(mailto) > RECEIVER_MAX_BYTES) return FALSE;
  for (; *mailto != '\0'; mailto++)
    if (g_ascii_iscntrl(*mailto)) return FALSE;
  return TRUE;
}

static void set_delay(Reading *r, const char *value) {
  guint64 minutes;
  if (*value == '\0')
    r->delay_ms = 0;
  else if (g_ascii_string_to_unsigned(value, 10, 0, DELAY_MAX_MINUTES, &minutes, NULL))
    r->delay_ms = (gint64)minutes * PAWL_MINUTE_MS;
  else
    say(r, TRUE, 1, NULL, "RANDOM_DELAY is not honoured: it is a number of minutes, 0 to %d", DELAY_MAX_MINUTES);
}

/* Names that mean something, and what cannot be done about some of them. FALSE: it is not kept as a variable. */
static gboolean take_meaning(Reading *r, const char *name, const char *value) {
  static const char *const mail_names[] = {"MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING", NULL};
  if (strcmp(name, "CRON_TZ") == 0)
    set_zone(r, value);
  else if (strcmp(name, "RANDOM_DELAY") == 0)
    set_delay(r, value);
  else if (strcmp(name, "MAILTO") == 0 && *value != '\0' && !pawl_crontab_is_receiver(value))
    say(r, TRUE, 1, NULL, "MAILTO is not honoured, and no mail is sent: it is no address");
  else if (strcmp(name, "LOGNAME") == 0) {
    say(r, TRUE, 1, NULL, "LOGNAME is not honoured: it is always the user's name, in cron too");
    return FALSE;
  } else if (g_str_has_prefix(name, "PAWL_")) {
    say(r, TRUE, 1, NULL, "%s is not honoured: names that begin with PAWL_ are pawl's own", name);
    return FALSE;
  } else if (strcmp(name, "SHELL") == 0 && *value != '\0' && !pawl_crontab_is_path(value))
    say(r, TRUE, 1, NULL, "SHELL is not honoured, and /bin/sh runs the commands: it is no absolute path");
  else if (strcmp(name, "HOME") == 0 && !pawl_crontab_is_path(value))
    say(r, TRUE, 1, NULL, "HOME is not honoured as the working directory: it is no absolute path");
  else if (g_strv_contains(mail_names, name))
    say(r, TRUE, 1, NULL, "%s is a mere variable here: mail goes out as the mail system has it", name);
  return TRUE;
}

static gsize bytes_of(const json_t *env) {
  const char *name;
  json_t *value;
  gsize bytes = 0;
  json_object_foreach((json_t *)env, name, value) bytes += strlen(name) + json_string_length(value) + 2;
  return bytes;
}

static void set_variable(Reading *r, const char *name, const char *value) {
  if (!take_meaning(r, name, value)) return;
  if (json_object_size(r->env) >= VARIABLES_MAX && json_object_get(r->env, name) == NULL) {
    say(r, FALSE, 1, NULL, "more than %d variables", VARIABLES_MAX);
    return;
  }
  json_t *env = json_copy(r->env);
  json_object_set_new(env, name, json_string(value));
  if (bytes_of(env) > VARIABLES_MAX_BYTES) {
    say(r, FALSE, 1, NULL, "the variables are longer than %d bytes in all", VARIABLES_MAX_BYTES);
    json_decref(env);
    return;
  }
  json_decref(r->env);
  r->env = env;
}

/* A name or a value: in quotes of either kind, without escapes, or up to one of `stops`. NULL: a quote is not closed. */
static char *take_quotable(const char **p, const char *stops) {
  const char quote = **p;
  if (quote == '\'' || quote == '"') {
    const char *begin = *p + 1, *end = strchr(begin, quote);
    if (end == NULL) return NULL;
    *p = end + 1;
    return g_strndup(begin, (gsize)(end - begin));
  }
  gsize n = strcspn(*p, stops);
  char *text = g_strndup(*p, n);
  *p += n;
  return text;
}

static gboolean is_variable_name(const char *name) {
  if ((!g_ascii_isalpha(*name) && *name != '_') || strlen(name) > PAWL_NAME_MAX) return FALSE;
  for (; *name != '\0'; name++)
    if (!g_ascii_isalnum(*name) && strchr("_-.", *name) == NULL) return FALSE;
  return TRUE;
}

/* FALSE: the line sets no variable. */
static gboolean take_variable(Reading *r, const char *line, const char *p) {
  g_autofree char *name = take_quotable(&p, " \t=");
  if (name == NULL || !is_variable_name(name)) return FALSE;
  p = pawl_skip_blanks(p);
  if (*p != '=') return FALSE;
  p = pawl_skip_blanks(p + 1);
  const char *begin = p;
  g_autofree char *value = take_quotable(&p, "");
  if (value == NULL || *pawl_skip_blanks(p) != '\0') {
    say(r, FALSE, column_of(line, begin), NULL, "%s: text follows the quote, or the quote is not closed", name);
    return TRUE;
  }
  if (*begin != '\'' && *begin != '"') g_strchomp(value);
  set_variable(r, name, value);
  return TRUE;
}

/* ---- lines that start something ---- */

/* "column 7: …" of an expression -> the column in the line, and the message without it. */
static const char *split_column(const char *message, gint *ret_column) {
  char *end;
  *ret_column = 1;
  if (!g_str_has_prefix(message, "column ")) return message;
  gint64 column = g_ascii_strtoll(message + strlen("column "), &end, 10);
  if (column < 1 || column > LINE_MAX_BYTES || !g_str_has_prefix(end, ": ")) return message;
  *ret_column = (gint)column;
  return end + 2;
}

/* The jitter of a line: RANDOM_DELAY, below the shortest gap. */
static gint64 jitter_of(Reading *r, const PawlCron *cron) {
  gint64 gap_ms = pawl_cron_shortest_gap_ms(cron);
  if (r->delay_ms == 0 || gap_ms == 0 || r->delay_ms < gap_ms) return r->delay_ms;
  gint64 jitter_ms = MAX(gap_ms - PAWL_SECOND_MS, 0);
  g_autofree char *text = pawl_duration_text(jitter_ms);
  say(r, TRUE, 1, NULL, "RANDOM_DELAY is cut to %s, below the shortest gap between two runs of this line", text);
  return jitter_ms;
}

static PawlCron *parse_expression(Reading *r, const char *line, const char *begin, const char *end) {
  g_autoptr(GError) error = NULL;
  g_autofree char *raw = g_strndup(begin, (gsize)(end - begin));
  gint column;
  PawlZone *zone = pawl_zone_new(r->zone, &error);
  PawlCron *cron = zone == NULL ? NULL : pawl_cron_parse(raw, PAWL_CRON_MINUTES, NULL, zone, &error);
  g_clear_pointer(&zone, pawl_zone_unref);
  if (cron != NULL) return cron;
  const char *message = split_column(error->message, &column);
  say(r, FALSE, column_of(line, begin) + column - 1, NULL, "%s", message);
  return NULL;
}

static char *with_single_blanks(const char *begin, const char *end) {
  GString *out = g_string_new(NULL);
  for (const char *p = begin; p < end; p++)
    if (!pawl_is_blank(*p))
      g_string_append_c(out, *p);
    else if (!pawl_is_blank(p[-1]))
      g_string_append_c(out, ' ');
  return g_string_free(out, FALSE);
}

static void take_entry(Reading *r, const char *line, const char *p) {
  if (*p == '-' && p[1] != '\0') p = pawl_skip_blanks(p + 1); /* "do not log this", of some crons */
  const char *begin = p, *end = p;
  int fields = *p == '@' ? 1 : 5, found = 0;
  for (; found < fields && *p != '\0'; found++) {
    end = pawl_skip_word(p);
    p = pawl_skip_blanks(end);
  }
  if (found < fields || *p == '\0') {
    say(r, FALSE, column_of(line, p), "minute hour day-of-month month day-of-week command",
      found < fields ? "%d of five fields, and no command" : "no command", found);
    return;
  }
  PawlCron *cron = parse_expression(r, line, begin, end);
  if (cron == NULL) return;
  PawlCrontabLine *entry = g_new0(PawlCrontabLine, 1);
  *entry = (PawlCrontabLine){
    r->number, with_single_blanks(begin, end), g_strdup(p), column_of(line, p), g_strdup(r->zone), jitter_of(r, cron), json_incref(r->env)};
  pawl_cron_unref(cron);
  g_ptr_array_add(r->lines, entry);
}

static void take_line(Reading *r, const char *begin, gsize bytes) {
  const char *bad;
  if (bytes > 0 && begin[bytes - 1] == '\r') bytes--;
  while (bytes > 0 && pawl_is_blank(*begin)) begin++, bytes--;
  if (bytes == 0 || *begin == '#') return;
  if (bytes > LINE_MAX_BYTES) {
    say(r, FALSE, 1, NULL, "longer than %d bytes", LINE_MAX_BYTES);
    return;
  }
  if (!g_utf8_validate_len(begin, bytes, &bad)) {
    say(r, FALSE, column_of(begin, bad), NULL, *bad == '\0' ? "a NUL byte" : "not UTF-8");
    return;
  }
  g_autofree char *line = g_strndup(begin, bytes);
  if (!take_variable(r, line, line)) take_entry(r, line, line);
}

GPtrArray *pawl_crontab_read(const char *text, gsize bytes, const PawlCrontabOptions *options, GPtrArray *issues) {
  Reading r = {.options = options,
    .issues = issues,
    .lines = g_ptr_array_new_with_free_func(pawl_crontab_line_free),
    .env = json_object(),
    .zone = g_strdup(options->host_zone)};
  const char *end = text + bytes;
  while (text < end) {
    const char *stop = memchr(text, '\n', (gsize)(end - text));
    r.number++;
    take_line(&r, text, (gsize)((stop != NULL ? stop : end) - text));
    text = stop != NULL ? stop + 1 : end;
    if (r.lines->len > PAWL_BUNDLE_MAX_TASKS) {
      say(&r, FALSE, 1, "split the file", "more than %d lines that start something", PAWL_BUNDLE_MAX_TASKS);
      break;
    }
  }
  json_decref(r.env);
  g_free(r.zone);
  return r.lines;
}

/* ---- which format ---- */

/* The word reads as a user's name, and a command follows. */
static gboolean has_user_word(const char *rest) {
  const char *end = pawl_skip_word(rest);
  gsize n = (gsize)(end - rest);
  if (n == 0 || n > 32 || *pawl_skip_blanks(end) == '\0') return FALSE;
  if (!g_ascii_islower(*rest) && *rest != '_') return FALSE;
  for (gsize i = 0; i < n; i++)
    if (!g_ascii_isalnum(rest[i]) && strchr("_-.", rest[i]) == NULL && !(rest[i] == '$' && i == n - 1)) return FALSE;
  return TRUE;
}

static gboolean is_word(const char *rest, const char *word) {
  gsize n = word != NULL ? strlen(word) : 0;
  return n > 0 && strncmp(rest, word, n) == 0 && pawl_is_blank(rest[n]) && *pawl_skip_blanks(rest + n) != '\0';
}

/* Nothing in a crontab says which format it has. In this order:
 *   1. a file in /etc/cron.d, or /etc/crontab, is of the system's; one in cron's spool is a user's
 *   2. a line with root, or with the login, where the user would stand is of the system's: no command is called so
 *   3. it is of the system's if on all lines that word could be a user's name, a command follows it, and it is not the name of a
 *      program that command lines commonly begin with ("php /var/www/cron.php"); else a user's
 * Who knows better says so (PawlCrontabOptions.format). */
PawlCrontabFormat pawl_crontab_detect(const GPtrArray *lines, const char *file, const char *login) {
  if (strcmp(file, "/etc/crontab") == 0 || g_str_has_prefix(file, "/etc/cron.d/")) return PAWL_CRONTAB_SYSTEM;
  if (g_str_has_prefix(file, "/var/spool/cron/")) return PAWL_CRONTAB_USER;
  for (guint i = 0; i < lines->len; i++) {
    const PawlCrontabLine *line = g_ptr_array_index(lines, i);
    if (is_word(line->rest, "root") || is_word(line->rest, login)) return PAWL_CRONTAB_SYSTEM;
  }
  for (guint i = 0; i < lines->len; i++) {
    const PawlCrontabLine *line = g_ptr_array_index(lines, i);
    gsize n = (gsize)(pawl_skip_word(line->rest) - line->rest);
    if (!has_user_word(line->rest) || pawl_crontab_is_program_word(line->rest, n)) return PAWL_CRONTAB_USER;
  }
  return lines->len > 0 ? PAWL_CRONTAB_SYSTEM : PAWL_CRONTAB_USER;
}
