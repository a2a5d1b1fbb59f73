/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the program: one const table says each one's flag, environment variable, default and meaning. A value comes from the
 * flag, else the environment, else the default, and it is known from which. */
#pragma once
#include <glib.h>

typedef enum {
  PAWL_SETTING_DATABASE,
  PAWL_SETTING_STORE,
  PAWL_SETTING_PROJECT,
  PAWL_SETTING_SLOTS,
  PAWL_SETTING_ZONE,
  PAWL_SETTING_DRAIN,
  PAWL_SETTING_LEASE,
  PAWL_SETTING_HISTORY,
  PAWL_SETTING_LOG,
  PAWL_SETTING_LOG_LEVEL,
  PAWL_SETTING_NAME,
  PAWL_SETTING_REPLICA,
  PAWL_SETTING_CLAIM_LEASE,
  PAWL_SETTING_ADMISSION_ISOLATION,
  PAWL_SETTING_SYNCHRONOUS_COMMIT,
  PAWL_SETTING_LISTEN,
  PAWL_N_SETTINGS
} PawlSettingId;

typedef struct {
  PawlSettingId id;
  const char *name;     /* of the flag */
  const char *env;      /* NULL: none */
  const char *fallback; /* NULL: found out at run time, or none */
  const char *value;    /* the word for it in the help */
  gboolean any_bytes;   /* a file name */
  gboolean up_only;
  const char *help;
} PawlSetting;

const PawlSetting *pawl_setting_table(void); /* PAWL_N_SETTINGS rows in order of the ids */
const PawlSetting *pawl_setting_find(const char *flag);

typedef struct {
  char *flags[PAWL_N_SETTINGS]; /* as given on the command line; NULL: not given */
  char **environment;           /* borrowed */
} PawlSettings;
PawlSettings *pawl_settings_new(char **environment);
void pawl_settings_free(PawlSettings *settings);
void pawl_settings_set_flag(PawlSettings *settings, PawlSettingId id, const char *value);

/* The text in force, borrowed; NULL when there is none. `ret_source`: "--slots", "PAWL_SLOTS", "default"; may be NULL. An empty variable
 * counts as not set. */
const char *pawl_setting_text(const PawlSettings *settings, PawlSettingId id, const char **ret_source);
/* Sets the error for a bad value: INVALID for a flag, CONFIG for a variable. The message begins with the source. */
void pawl_setting_refuse(const PawlSettings *settings, PawlSettingId id, GError **error, const char *format, ...) G_GNUC_PRINTF(4, 5);
/* The text as a number or a duration. Bad ones are refused as above. */
gboolean pawl_setting_count(const PawlSettings *settings, PawlSettingId id, gint min, gint max, gint *ret, GError **error);
gboolean pawl_setting_duration(
  const PawlSettings *settings, PawlSettingId id, gint64 min_ms, gint64 max_ms, gint64 *ret_ms, GError **error);

/* The store's URL, with a path made absolute, and whence ("--store", "PAWL_DATABASE_URL", "default"). Caller frees the URL; the source is
 * static. INVALID when two flags contradict each other. */
gboolean pawl_settings_store(const PawlSettings *settings, char **ret_url, const char **ret_source, GError **error);
/* The folder of the store when nothing is set: $STATE_DIRECTORY (systemd), else for root /var/lib/pawl, else $XDG_STATE_HOME/pawl, else
 * ~/.local/state/pawl. */
char *pawl_default_store_folder(char **environment, gboolean root);
/* The time zone of this machine as an IANA name, from TZ, /etc/localtime or /etc/timezone; "UTC" when none says one. Caller frees. */
char *pawl_host_zone(char **environment);
