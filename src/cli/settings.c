/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/settings.h"

#include "base/clock.h"
#include "base/error.h"
#include "civil/civil.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static const PawlSetting table[PAWL_N_SETTINGS] = {
  {PAWL_SETTING_DATABASE, "database", "PAWL_DATABASE_URL", NULL, "URL", TRUE, FALSE, "The store: sqlite:PATH"},
  {PAWL_SETTING_STORE, "store", NULL, NULL, "FILE", TRUE, FALSE, "Short for --database sqlite:FILE"},
  {PAWL_SETTING_PROJECT, "project", "PAWL_PROJECT", "default", "NAME", FALSE, FALSE, "The project that names are looked up in"},
  {PAWL_SETTING_SLOTS, "slots", "PAWL_SLOTS", "64", "N", FALSE, TRUE, "Attempts that run at once in this process; 0: schedule only"},
  {PAWL_SETTING_ZONE, "zone", "PAWL_ZONE", NULL, "ZONE", FALSE, TRUE, "Time zone of crontabs that name none (default: the host's)"},
  {PAWL_SETTING_DRAIN, "drain", "PAWL_DRAIN", "25s", "DURATION", FALSE, TRUE, "How long running work may go on at a stop; 0: for ever"},
  {PAWL_SETTING_LEASE, "lease", "PAWL_LEASE", "30s", "DURATION", FALSE, TRUE, "Run lease, 3s to 10m"},
  {PAWL_SETTING_HISTORY, "history", "PAWL_HISTORY", "30d", "DURATION", FALSE, TRUE, "How long finished runs are kept"},
  {PAWL_SETTING_LOG, "log", "PAWL_LOG", "text", "text|json", FALSE, TRUE, "Format of the log on standard error"},
  {PAWL_SETTING_LOG_LEVEL, "log-level", "PAWL_LOG_LEVEL", "info", "LEVEL", FALSE, TRUE, "error, warning, notice, info or debug"},
  {PAWL_SETTING_NAME, "name", "PAWL_NAME", NULL, "NAME", FALSE, TRUE, "Name of this process (default: the host's)"},
  {PAWL_SETTING_REPLICA, "replica", "PAWL_REPLICA", NULL, "NAME", FALSE, TRUE, "Name in `pawl replicas` (default: --name)"},
  {PAWL_SETTING_CLAIM_LEASE, "claim-lease", "PAWL_CLAIM_LEASE", "10s", "DURATION", FALSE, TRUE,
    "PostgreSQL: lease on a due trigger, 1s to 60s"},
  {PAWL_SETTING_ADMISSION_ISOLATION, "admission-isolation", "PAWL_ADMISSION_ISOLATION", "read-committed", "LEVEL", FALSE, TRUE,
    "PostgreSQL: read-committed or serializable"},
  {PAWL_SETTING_SYNCHRONOUS_COMMIT, "synchronous-commit", "PAWL_SYNCHRONOUS_COMMIT", "on", "LEVEL", FALSE, TRUE,
    "PostgreSQL: on, local, remote_write or remote_apply"},
  {PAWL_SETTING_LISTEN, "listen", "PAWL_LISTEN", NULL, "ADDR:PORT|none", FALSE, TRUE,
    "Where /livez, /readyz and /metrics are; port 0: any free one (default: none on SQLite, else 127.0.0.1:7295)"},
};

const PawlSetting *pawl_setting_table(void) { return table; }

const PawlSetting *pawl_setting_find(const char *flag) {
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++)
    if (strcmp(table[i].name, flag) == 0) return &table[i];
  return NULL;
}

PawlSettings *pawl_settings_new(char **environment) {
  PawlSettings *settings = g_new0(PawlSettings, 1);
  settings->environment = environment;
  return settings;
}

void pawl_settings_free(PawlSettings *settings) {
  if (settings == NULL) return;
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) g_free(settings->flags[i]);
  g_free(settings);
}

void pawl_settings_set_flag(PawlSettings *settings, PawlSettingId id, const char *value) {
  g_free(settings->flags[id]);
  settings->flags[id] = g_strdup(value);
}

static const char *environment_text(const PawlSettings *settings, const char *name) {
  const char *text = name != NULL ? g_environ_getenv(settings->environment, name) : NULL;
  return text != NULL && *text != '\0' ? text : NULL;
}

/* "--slots" for each row, without memory to free. */
static const char *flag_word(PawlSettingId id) {
  static const char *const words[PAWL_N_SETTINGS] = {"--database", "--store", "--project", "--slots", "--zone", "--drain", "--lease",
    "--history", "--log", "--log-level", "--name", "--replica", "--claim-lease", "--admission-isolation", "--synchronous-commit",
    "--listen"};
  return words[id];
}

const char *pawl_setting_text(const PawlSettings *settings, PawlSettingId id, const char **ret_source) {
  const char *source = "default", *text = table[id].fallback, *variable = environment_text(settings, table[id].env);
  if (settings->flags[id] != NULL) {
    source = flag_word(id);
    text = settings->flags[id];
  } else if (variable != NULL) {
    source = table[id].env;
    text = variable;
  }
  if (ret_source != NULL) *ret_source = source;
  return text;
}

void pawl_setting_refuse(const PawlSettings *settings, PawlSettingId id, GError **error, const char *format, ...) {
  const char *source;
  va_list args;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  pawl_setting_text(settings, id, &source);
  g_set_error(error, PAWL_ERROR, settings->flags[id] != NULL ? PAWL_ERROR_INVALID : PAWL_ERROR_CONFIG, "%s: %s", source, why);
}

gboolean pawl_setting_count(const PawlSettings *settings, PawlSettingId id, gint min, gint max, gint *ret, GError **error) {
  const char *text = pawl_setting_text(settings, id, NULL);
  gint64 value;
  if (!g_ascii_string_to_signed(text, 10, min, max, &value, NULL)) {
    pawl_setting_refuse(settings, id, error, "'%.60s' is no number from %d to %d", text, min, max);
    return FALSE;
  }
  *ret = (gint)value;
  return TRUE;
}

gboolean pawl_setting_duration(
  const PawlSettings *settings, PawlSettingId id, gint64 min_ms, gint64 max_ms, gint64 *ret_ms, GError **error) {
  const char *text = pawl_setting_text(settings, id, NULL);
  g_autoptr(GError) why = NULL;
  gint64 value;
  if (!pawl_duration_parse(text, &value, &why)) {
    pawl_setting_refuse(settings, id, error, "%s", why->message);
    return FALSE;
  }
  if (value < min_ms || value > max_ms) {
    g_autofree char *min = pawl_duration_text(min_ms), *max = pawl_duration_text(max_ms);
    pawl_setting_refuse(settings, id, error, "'%.60s' is not within %s to %s", text, min, max);
    return FALSE;
  }
  *ret_ms = value;
  return TRUE;
}

char *pawl_default_store_folder(char **environment, gboolean root) {
  const char *state = g_environ_getenv(environment, "STATE_DIRECTORY"), *xdg = g_environ_getenv(environment, "XDG_STATE_HOME"),
             *home = g_environ_getenv(environment, "HOME");
  /* systemd gives a list divided by colons when the unit has several */
  if (state != NULL && *state == '/') return g_strndup(state, strcspn(state, ":"));
  if (root) return g_strdup("/var/lib/pawl");
  if (xdg != NULL && *xdg == '/') return g_build_filename(xdg, "pawl", NULL);
  if (home == NULL || *home != '/') home = g_get_home_dir();
  return g_build_filename(home, ".local", "state", "pawl", NULL);
}

static char *absolute_url(const char *url) {
  if (!g_str_has_prefix(url, "sqlite:") || url[7] == '\0' || url[7] == '/') return g_strdup(url);
  g_autofree char *path = g_canonicalize_filename(url + 7, NULL);
  return g_strconcat("sqlite:", path, NULL);
}

gboolean pawl_settings_store(const PawlSettings *settings, char **ret_url, const char **ret_source, GError **error) {
  const char *file = settings->flags[PAWL_SETTING_STORE], *source, *url = pawl_setting_text(settings, PAWL_SETTING_DATABASE, &source);
  if (file != NULL && settings->flags[PAWL_SETTING_DATABASE] != NULL) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "--store and --database both name a store; give one of them");
    return FALSE;
  }
  if (file != NULL ? *file == '\0' : url != NULL && *url == '\0') {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%s is empty; name a file, or leave it out", file != NULL ? "--store" : source);
    return FALSE;
  }
  if (file != NULL) {
    g_autofree char *path = g_canonicalize_filename(file, NULL);
    *ret_url = g_strconcat("sqlite:", path, NULL);
    *ret_source = "--store";
  } else if (url != NULL) {
    *ret_url = absolute_url(url);
    *ret_source = source;
  } else {
    g_autofree char *folder = pawl_default_store_folder(settings->environment, geteuid() == 0);
    *ret_url = g_strconcat("sqlite:", folder, "/pawl.db", NULL);
    *ret_source = "default";
  }
  return TRUE;
}

static gboolean zone_exists(const char *name) {
  PawlZone *zone = pawl_zone_new(name, NULL);
  if (zone == NULL) return FALSE;
  pawl_zone_unref(zone);
  return TRUE;
}

char *pawl_host_zone(char **environment) {
  const char *variable = g_environ_getenv(environment, "TZ");
  g_autofree char *link = g_file_read_link("/etc/localtime", NULL), *file = NULL;
  if (variable != NULL && *variable == ':') variable++;
  if (variable != NULL && zone_exists(variable)) return g_strdup(variable);
  const char *name = link != NULL ? strstr(link, "zoneinfo/") : NULL;
  if (name != NULL && zone_exists(name + strlen("zoneinfo/"))) return g_strdup(name + strlen("zoneinfo/"));
  if (g_file_get_contents("/etc/timezone", &file, NULL, NULL) && zone_exists(g_strstrip(file))) return g_strdup(file);
  return g_strdup("UTC");
}
