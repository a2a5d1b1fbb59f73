/* SPDX-License-Identifier: Apache-2.0 */
/* pawl import crontab: crontabs as a YAML file on standard output. */
#include "base/error.h"
#include "cli/bundle.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  gboolean user, system;
  char *zone, *login;
} ImportOptions;

static const PawlOption options[] = {
  {"user", 0, PAWL_OPTION_FLAG, offsetof(ImportOptions, user), NULL, "They are in a user's format (default: found out)", 0, 0, 0},
  {"system", 0, PAWL_OPTION_FLAG, offsetof(ImportOptions, system), NULL, "They are in the system's format, with a user in each line", 0, 0,
    0},
  {"zone", 0, PAWL_OPTION_TEXT, offsetof(ImportOptions, zone), "ZONE", "Time zone that is written out (default: the host's)", 0, 0, 0},
  {"login", 0, PAWL_OPTION_TEXT, offsetof(ImportOptions, login), "USER", "Whose crontab it is, in a user's format (default: yours)", 0, 0,
    0},
};

static const PawlExample examples[] = {
  {"pawl import crontab /etc/crontab /etc/cron.d/sysstat > pawl.yaml", "several files into one"},
  {"crontab -l | pawl import crontab --user - > pawl.yaml", "one's own crontab"},
};

typedef struct {
  char *zone, *login, *home;
  PawlCrontabFormat format;
} Host;

static void host_clear(Host *host) {
  g_free(host->zone);
  g_free(host->login);
  g_free(host->home);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Host, host_clear)

static gboolean read_host(PawlCall *call, Host *host, GError **error) {
  const ImportOptions *given = call->options;
  if (given->user && given->system) {
    pawl_usage_error(call, error, "--user and --system exclude each other");
    return FALSE;
  }
  host->format = given->user ? PAWL_CRONTAB_USER : given->system ? PAWL_CRONTAB_SYSTEM : PAWL_CRONTAB_DETECT;
  host->zone = given->zone != NULL ? g_strdup(given->zone) : pawl_host_zone(call->environment);
  PawlZone *zone = pawl_zone_new(host->zone, error);
  if (zone == NULL) return FALSE;
  pawl_zone_unref(zone);
  const struct passwd *user = given->login != NULL ? getpwnam(given->login) : getpwuid(geteuid());
  if (user == NULL && given->login != NULL) {
    pawl_usage_error(call, error, "--login: there is no user '%.60s'", given->login);
    return FALSE;
  }
  host->login = g_strdup(user != NULL ? user->pw_name : g_get_user_name());
  host->home = g_strdup(user != NULL ? user->pw_dir : g_get_home_dir());
  return TRUE;
}

static void say_issues(PawlOut *out, const GPtrArray *issues, guint first) {
  for (guint i = first; i < issues->len; i++) {
    g_autofree char *text = pawl_issue_text(g_ptr_array_index(issues, i));
    pawl_out_complain(out, "%s", text);
  }
}

/* Moves the tasks of `more` into `all`; one of a name that is taken gets "-2" and so on. */
static void merge_tasks(PawlOut *out, json_t *all, const json_t *more, const char *file) {
  json_t *into = json_object_get(all, "tasks"), *task;
  const char *name;
  json_object_foreach(json_object_get(more, "tasks"), name, task) {
    g_autofree char *free_name = g_strdup(name);
    for (guint n = 2; json_object_get(into, free_name) != NULL; n++) {
      g_free(free_name);
      free_name = g_strdup_printf("%s-%u", name, n);
    }
    if (strcmp(free_name, name) != 0)
      pawl_out_note(out, "%s: warning: the name %s is taken by another file; its task is %s", file, name, free_name);
    json_object_set(into, free_name, task);
  }
}

/* What stands beside the tasks must be alike; where it is not, a file can't be merged. */
static gboolean merge(PawlCall *call, json_t **all, json_t *more, const char *file, GError **error) {
  const char *key;
  json_t *value;
  if (*all == NULL) {
    *all = json_incref(more);
    if (json_object_get(*all, "tasks") == NULL) json_object_set_new(*all, "tasks", json_object());
    return TRUE;
  }
  json_object_foreach(more, key, value) {
    const json_t *mine = json_object_get(*all, key);
    if (strcmp(key, "tasks") == 0 || json_equal(mine, value)) continue;
    if (mine != NULL) {
      g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFLICT, "%s: its '%s' differs from the files before it; import it alone", file, key);
      return FALSE;
    }
    json_object_set(*all, key, value);
  }
  merge_tasks(call->out, *all, more, file);
  return TRUE;
}

/* FALSE with an error: it could not be read. FALSE without: its issues say why. */
static gboolean import_file(PawlCall *call, const char *file, const Host *host, json_t **all, GPtrArray *issues, GError **error) {
  g_autofree char *text = NULL, *shown = strcmp(file, "-") == 0 ? g_strdup("crontab") : g_filename_display_name(file);
  guint first = issues->len;
  gsize bytes;
  if (!pawl_read_file(file, &text, &bytes, error)) return FALSE;
  PawlCrontabOptions how = {.file = shown,
    .format = host->format,
    .host_zone = host->zone,
    .login = host->login,
    .home = host->home,
    .may_change_user = geteuid() == 0};
  g_autoptr(json_t) tree = pawl_crontab_to_json(text, bytes, &how, issues);
  if (!pawl_out_json_wanted(call->out)) say_issues(call->out, issues, first);
  return tree != NULL && merge(call, all, tree, shown, error);
}

static int run(PawlCall *call, GError **error) {
  g_auto(Host) host = {0};
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  g_autoptr(json_t) all = NULL;
  gboolean good = TRUE;
  if (strcmp(call->args[0], "crontab") != 0) return pawl_usage_error(call, error, "'%.60s' is not known; crontab is", call->args[0]);
  if (call->n_args < 2) return pawl_usage_error(call, error, "name the crontab, or - for standard input");
  if (!read_host(call, &host, error)) return PAWL_EXIT_USAGE;
  for (guint i = 1; i < call->n_args; i++) {
    g_autoptr(GError) why = NULL;
    if (import_file(call, call->args[i], &host, &all, issues, &why)) continue;
    if (why != NULL) {
      g_propagate_error(error, g_steal_pointer(&why));
      return PAWL_EXIT_FAILED;
    }
    good = FALSE;
  }
  if (!good) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "not every line can be taken over; nothing was printed");
    return PAWL_EXIT_CONFIG;
  }
  if (pawl_out_json_wanted(call->out)) {
    pawl_out_json(call->out, g_steal_pointer(&all));
    return PAWL_EXIT_OK;
  }
  g_autofree char *yaml = pawl_json_to_yaml(all);
  pawl_out_text(call->out, "%s", yaml);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_import = {
  .name = "import",
  .group = "Define",
  .summary = "Turn crontabs into a YAML file",
  .synopsis = "crontab FILE...",
  .description =
    "Prints the file; what can't be honoured is said per line on standard error, and a line that would be lost refuses the whole (exit code 78). "
    "- is standard input. Names do not depend on line numbers.",
  .json = "the same tree as the YAML",
  PAWL_EXAMPLES(examples),
  PAWL_OPTIONS(options, ImportOptions),
  .min_args = 1,
  .max_args = -1,
  .any_bytes = TRUE,
  .run = run,
};
