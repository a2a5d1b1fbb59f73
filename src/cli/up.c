/* SPDX-License-Identifier: Apache-2.0 */
/* pawl up: reads its options and hands them to the daemon. */
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/verbs.h"

#include <signal.h>
#include <string.h>

#define DEFAULT_LISTEN "127.0.0.1:7295"

typedef struct {
  char *file;
  char **crontabs, **allow_users;
} UpOptions;

static const PawlOption options[] = {
  {"file", 'f', PAWL_OPTION_FILE, offsetof(UpOptions, file), "FILE", "Apply this file first, as `apply --prune`; SIGHUP reads it again", 0,
    0, 0},
  {"crontab", 0, PAWL_OPTION_FILES, offsetof(UpOptions, crontabs), "FILE", "Run this crontab as it is; repeatable", 0, 0, 0},
  {"allow-user", 0, PAWL_OPTION_TEXTS, offsetof(UpOptions, allow_users), "USER",
    "Run tasks of this user too (root only), * for any; repeatable", 0, 0, 0},
};

static const PawlExample examples[] = {
  {"pawl up -f pawl.yaml", "run the tasks of a file until Ctrl-C"},
  {"pawl up --crontab /etc/cron.d/sysstat --allow-user root", "run a system crontab without changing it"},
  {"pawl up --store /srv/pawl.db --slots 8 --log json", "run what was applied to a store, eight attempts at once"},
};

static gboolean is_postgres(const char *url) { return g_str_has_prefix(url, "postgresql:") || g_str_has_prefix(url, "postgres:"); }

static gboolean read_log(const PawlSettings *settings, PawlUpOptions *up, GError **error) {
  const char *log = pawl_setting_text(settings, PAWL_SETTING_LOG, NULL);
  PawlLogLevel level;
  if (strcmp(log, "text") != 0 && strcmp(log, "json") != 0) {
    pawl_setting_refuse(settings, PAWL_SETTING_LOG, error, "'%.60s' is neither text nor json", log);
    return FALSE;
  }
  up->log_json = strcmp(log, "json") == 0;
  up->log_level = (char *)pawl_setting_text(settings, PAWL_SETTING_LOG_LEVEL, NULL);
  if (pawl_log_level_parse(up->log_level, &level)) return TRUE;
  pawl_setting_refuse(
    settings, PAWL_SETTING_LOG_LEVEL, error, "'%.60s' is no level; write error, warning, notice, info or debug", up->log_level);
  return FALSE;
}

static gboolean read_names(const PawlSettings *settings, PawlUpOptions *up, GError **error) {
  g_autoptr(GError) why = NULL;
  up->name = (char *)pawl_setting_text(settings, PAWL_SETTING_NAME, NULL);
  if (up->name == NULL) up->name = (char *)g_get_host_name();
  up->zone = (char *)pawl_setting_text(settings, PAWL_SETTING_ZONE, NULL);
  if (up->zone == NULL) return TRUE;
  PawlZone *zone = pawl_zone_new(up->zone, &why);
  if (zone == NULL) {
    pawl_setting_refuse(settings, PAWL_SETTING_ZONE, error, "%s", why->message);
    return FALSE;
  }
  pawl_zone_unref(zone);
  return TRUE;
}

static gboolean one_of(const PawlSettings *settings, PawlSettingId id, const char *const *words, const char **ret_word, GError **error) {
  const char *word = pawl_setting_text(settings, id, NULL);
  *ret_word = word;
  if (g_strv_contains(words, word)) return TRUE;
  g_autofree char *list = g_strjoinv(", ", (char **)words);
  pawl_setting_refuse(settings, id, error, "'%.60s' is none of %s", word, list);
  return FALSE;
}

static gboolean read_shared(const PawlSettings *settings, PawlUpOptions *up, GError **error) {
  static const char *const levels[] = {"read-committed", "serializable", NULL};
  static const char *const commits[] = {"on", "local", "remote_write", "remote_apply", NULL};
  const char *level, *commit;
  up->replica = (char *)pawl_setting_text(settings, PAWL_SETTING_REPLICA, NULL);
  if (up->replica == NULL) up->replica = up->name;
  if (!one_of(settings, PAWL_SETTING_ADMISSION_ISOLATION, levels, &level, error) ||
      !one_of(settings, PAWL_SETTING_SYNCHRONOUS_COMMIT, commits, &commit, error))
    return FALSE;
  up->serializable = strcmp(level, "serializable") == 0;
  up->synchronous_commit = (char *)commit;
  return pawl_setting_duration(settings, PAWL_SETTING_CLAIM_LEASE, PAWL_SECOND_MS, PAWL_MINUTE_MS, &up->claim_lease_ms, error);
}

static gboolean read_numbers(PawlCall *call, PawlUpOptions *up, GError **error) {
  const PawlSettings *settings = call->settings;
  return pawl_setting_count(settings, PAWL_SETTING_SLOTS, 0, 100000, &up->slots, error) &&
         pawl_setting_duration(settings, PAWL_SETTING_DRAIN, 0, PAWL_DAY_MS, &up->drain_ms, error) &&
         pawl_setting_duration(settings, PAWL_SETTING_LEASE, 3 * PAWL_SECOND_MS, 10 * PAWL_MINUTE_MS, &up->lease_ms, error) &&
         pawl_setting_duration(settings, PAWL_SETTING_HISTORY, PAWL_SECOND_MS, 3650 * PAWL_DAY_MS, &up->history_ms, error);
}

/* A port that nobody chose must keep nobody from running, and a node of its own opens none (docs/adr/0010-http-door.md). */
static gboolean read_listen(const PawlSettings *settings, PawlUpOptions *up, GError **error) {
  const char *text = pawl_setting_text(settings, PAWL_SETTING_LISTEN, NULL);
  g_autoptr(GError) why = NULL;
  up->listen_asked = text != NULL;
  if (text == NULL) text = is_postgres(up->url) ? DEFAULT_LISTEN : "none";
  up->listen = strcmp(text, "none") != 0;
  if (!up->listen || pawl_address_parse(text, &up->listen_at, &why)) return TRUE;
  pawl_setting_refuse(settings, PAWL_SETTING_LISTEN, error, "%s", why->message);
  return FALSE;
}

gboolean pawl_up_options_read(PawlCall *call, PawlUpOptions *ret_up, GError **error) {
  const UpOptions *given = call->options;
  PawlUpOptions up = {.file = given->file, .crontabs = given->crontabs, .allow_users = given->allow_users};
  if (!read_log(call->settings, &up, error) || !read_names(call->settings, &up, error) || !read_shared(call->settings, &up, error) ||
      !read_numbers(call, &up, error))
    return FALSE;
  if (!pawl_settings_store(call->settings, &up.url, &up.url_source, error)) return FALSE;
  if (!read_listen(call->settings, &up, error)) {
    g_free(up.url);
    return FALSE;
  }
  if (is_postgres(up.url) && (up.file != NULL || up.crontabs != NULL)) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG,
      "%s is for a store of its own, and several replicas share this one; publish the file with `pawl apply -f FILE` and start `pawl up` without it",
      up.file != NULL ? "-f" : "--crontab");
    g_free(up.url);
    return FALSE;
  }
  up.shared = is_postgres(up.url);
  *ret_up = up;
  return TRUE;
}

static int run(PawlCall *call, GError **error) {
  PawlUpOptions up;
  struct sigaction usual = {.sa_handler = SIG_DFL};
  if (!pawl_up_options_read(call, &up, error)) return PAWL_EXIT_USAGE;
  sigaction(SIGPIPE, &usual, NULL); /* the daemon decides for itself, and its children inherit it */
  int code = call->up(&up);
  g_free(up.url);
  return code;
}

const PawlVerb pawl_verb_up = {
  .name = "up",
  .group = "Start",
  .summary = "Run what is due, until stopped",
  .synopsis = "",
  .description =
    "Opens the store, makes it when there is none, and runs its tasks. TERM or Ctrl-C stops: running work may go on for --drain, "
    "a second signal ends it at once. HUP reads -f and --crontab again.",
  .json = "none; `--log json` makes each line of the log an object with at, level, event and message",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, UpOptions),
  .up_settings = TRUE,
  .run = run,
};
