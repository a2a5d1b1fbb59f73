/* SPDX-License-Identifier: Apache-2.0 */
/* What several verbs need of a call: the store, the project, instants, files, references. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

PawlStore *pawl_call_store_if_any(PawlCall *call, PawlDbMode mode, gboolean create, GError **error) {
  g_autofree char *url = NULL, *actor = g_strdup_printf("%s@%s", g_get_user_name(), g_get_host_name());
  const char *source;
  if (!pawl_settings_store(call->settings, &url, &source, error)) return NULL;
  PawlStoreOptions options = {.url = url, .mode = mode, .create = create, .actor = actor};
  return pawl_store_open(&options, error);
}

PawlStore *pawl_call_store(PawlCall *call, PawlDbMode mode, GError **error) {
  GError *why = NULL;
  PawlStore *store = pawl_call_store_if_any(call, mode, FALSE, &why);
  if (g_error_matches(why, PAWL_ERROR, PAWL_ERROR_NOT_FOUND)) why->code = PAWL_ERROR_UNAVAILABLE;
  if (why != NULL) g_propagate_error(error, why);
  return store;
}

const char *pawl_call_project(const PawlCall *call) { return pawl_setting_text(call->settings, PAWL_SETTING_PROJECT, NULL); }

const char *pawl_call_project_if_set(const PawlCall *call) {
  const char *source, *project = pawl_setting_text(call->settings, PAWL_SETTING_PROJECT, &source);
  return strcmp(source, "default") == 0 ? NULL : project;
}

int pawl_usage_error(const PawlCall *call, GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%s; see `pawl %s --help`", why, call->verb->name);
  return PAWL_EXIT_USAGE;
}

gboolean pawl_when_parse(const char *text, int sign, gint64 now_ms, gint64 *ret_at_ms, GError **error) {
  gint64 ms;
  if (pawl_duration_parse(text, &ms, NULL)) {
    gint64 at_ms = now_ms + sign * ms;
    if (at_ms > 0 && at_ms <= PAWL_AT_MAX_MS) {
      *ret_at_ms = at_ms;
      return TRUE;
    }
  } else if (pawl_instant_parse(text, &ms, NULL)) {
    *ret_at_ms = ms;
    return TRUE;
  }
  g_set_error(
    error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%.60s' is neither an instant such as 2027-01-31T02:00:00Z nor a duration such as 2h", text);
  return FALSE;
}

static gboolean cannot_read(const char *file, int failure, GError **error) {
  g_autofree char *shown = g_filename_display_name(file);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "cannot read %s: %s", shown, g_strerror(failure));
  return FALSE;
}

gboolean pawl_read_file(const char *file, char **ret_text, gsize *ret_bytes, GError **error) {
  const gsize cap = PAWL_FILE_MAX_BYTES + 1;
  gboolean is_input = strcmp(file, "-") == 0;
  int fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(file, errno, error);
  GString *text = g_string_new(NULL);
  char block[16384];
  int failure = 0;
  while (text->len < cap) {
    gssize n = read(fd, block, MIN(sizeof block, cap - text->len));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) failure = errno;
    if (n <= 0) break;
    g_string_append_len(text, block, n);
  }
  if (!is_input) close(fd);
  if (failure != 0) {
    g_string_free(text, TRUE);
    return cannot_read(file, failure, error);
  }
  *ret_bytes = text->len;
  *ret_text = g_string_free(text, FALSE);
  return TRUE;
}

gboolean pawl_reference_split(const char *text, char **ret_task, char **ret_trigger, GError **error) {
  const char *slash = strchr(text, '/');
  g_autofree char *task = slash != NULL ? g_strndup(text, (gsize)(slash - text)) : g_strdup(text);
  if (!pawl_name_valid(task) || (slash != NULL && !pawl_name_valid(slash + 1))) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%.200s' is no reference; write TASK or TASK/TRIGGER", text);
    return FALSE;
  }
  *ret_task = g_steal_pointer(&task);
  *ret_trigger = slash != NULL ? g_strdup(slash + 1) : NULL;
  return TRUE;
}

gboolean pawl_looks_like_run(const char *text) {
  gsize n = strlen(text);
  if (n < PAWL_ID_SHORT || n >= PAWL_ID_TEXT) return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    if (!g_ascii_isxdigit(*p) && *p != '-') return FALSE;
  return TRUE;
}
