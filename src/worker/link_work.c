/* SPDX-License-Identifier: Apache-2.0 */
/* From a granted attempt and its task's spec to the process that executes it: user, directory, environment, stdin. Secrets are read here,
 * at the start, from where the spec refers to. */
#include "base/clock.h"
#include "base/error.h"
#include "worker/link_private.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET_MAX_BYTES 65536
#define OUTPUT_DRAIN_MS 250

typedef struct {
  struct passwd pw;
  char buffer[4096];
} User;

static gboolean invalid(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean invalid(GError **error, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, PAWL_ERROR, PAWL_ERROR_INVALID, message);
  return FALSE;
}

/* ---- who ---- */

static gboolean find_user(const char *name, User *user, GError **error) {
  struct passwd *found = NULL;
  int failed = name != NULL ? getpwnam_r(name, &user->pw, user->buffer, sizeof user->buffer, &found)
                            : getpwuid_r(geteuid(), &user->pw, user->buffer, sizeof user->buffer, &found);
  if (found != NULL) return TRUE;
  if (name != NULL)
    return invalid(error, "user '%s': %s", name, failed != 0 ? g_strerror(failed) : "there is no such user on this machine");
  static char root_dir[] = "/", shell[] = "/bin/sh", unknown[] = "unknown"; /* a container without a passwd entry */
  user->pw = (struct passwd){.pw_name = unknown, .pw_uid = geteuid(), .pw_gid = getegid(), .pw_dir = root_dir, .pw_shell = shell};
  return TRUE;
}

static gboolean may_run_as(const PawlWorkerOptions *options, const User *user, GError **error) {
  if (user->pw.pw_uid == geteuid()) return TRUE;
  if (geteuid() != 0) return invalid(error, "the task runs as user '%s', but pawl is not root", user->pw.pw_name);
  for (char **name = options->allow_users; name != NULL && *name != NULL; name++)
    if (g_str_equal(*name, "*") || g_str_equal(*name, user->pw.pw_name)) return TRUE;
  return invalid(
    error, "the task runs as user '%s'; this worker allows that only with --allow-user %s", user->pw.pw_name, user->pw.pw_name);
}

static void take_groups(PawlWork *work, const User *user) {
  int n = 64;
  work->change_user = TRUE;
  work->uid = user->pw.pw_uid;
  work->gid = user->pw.pw_gid;
  work->groups = g_new(gid_t, n);
  if (getgrouplist(user->pw.pw_name, user->pw.pw_gid, work->groups, &n) < 0) {
    work->groups = g_renew(gid_t, work->groups, n);
    getgrouplist(user->pw.pw_name, user->pw.pw_gid, work->groups, &n);
  }
  work->n_groups = (gsize)n;
}

/* ---- environment ---- */

static char *read_secret_file(const char *path, GError **error) {
  g_autoptr(GError) failed = NULL;
  g_autofree char *text = NULL;
  gsize bytes = 0;
  if (!g_file_get_contents(path, &text, &bytes, &failed)) {
    invalid(error, "env from_file %s: %s", path, failed->code == G_FILE_ERROR_NOENT ? "no such file" : "it cannot be read");
    return NULL;
  }
  if (bytes > SECRET_MAX_BYTES || memchr(text, '\0', bytes) != NULL) {
    invalid(error, "env from_file %s: it must be text of at most %d bytes", path, SECRET_MAX_BYTES);
    return NULL;
  }
  if (bytes > 0 && text[bytes - 1] == '\n') text[bytes - 1] = '\0'; /* an editor's last newline is no part of a secret */
  return g_steal_pointer(&text);
}

static gboolean add_task_variable(PawlWork *work, const PawlEnvVar *var, char ***env, GError **error) {
  g_autofree char *secret = NULL;
  const char *value = var->value;
  if (var->source == PAWL_ENV_FROM_FILE) {
    secret = read_secret_file(var->value, error);
    if (secret == NULL) return FALSE;
  } else if (var->source == PAWL_ENV_FROM_ENV) {
    secret = g_strdup(g_getenv(var->value));
    if (secret == NULL) return invalid(error, "env %s: the variable %s is not set in pawl's environment", var->name, var->value);
  }
  if (secret != NULL) {
    if (*secret != '\0') g_ptr_array_add(work->secrets, g_strdup(secret));
    value = secret;
  }
  *env = g_environ_setenv(*env, var->name, value, TRUE);
  return TRUE;
}

static char **base_environment(const PawlTaskSpec *spec, const User *user) {
  char **env = NULL;
  const char *lang = g_getenv("LANG");
  env = g_environ_setenv(
    env, "PATH", geteuid() == 0 ? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" : "/usr/local/bin:/usr/bin:/bin", TRUE);
  env = g_environ_setenv(env, "HOME", user->pw.pw_dir, TRUE);
  env = g_environ_setenv(env, "USER", user->pw.pw_name, TRUE);
  env = g_environ_setenv(env, "LOGNAME", user->pw.pw_name, TRUE);
  env = g_environ_setenv(env, "SHELL", user->pw.pw_shell, TRUE);
  env = g_environ_setenv(env, "LANG", lang != NULL ? lang : "C.UTF-8", TRUE);
  for (char **name = spec->env_pass; *name != NULL; name++) {
    const char *value = g_getenv(*name);
    if (value != NULL && !g_str_has_prefix(*name, "PAWL_") /* pawl's own settings */) env = g_environ_setenv(env, *name, value, TRUE);
  }
  return env;
}

static char **add_run_variables(char **env, const PawlGrant *grant, const PawlTaskSpec *spec) {
  char run[PAWL_ID_TEXT], at[PAWL_INSTANT_TEXT];
  PawlId span = pawl_id_random();
  char span_text[PAWL_ID_TEXT];
  pawl_id_text(&grant->run, run);
  pawl_id_text(&span, span_text);
  g_autofree char *attempt = g_strdup_printf("%d", grant->attempt);
  g_autofree char *fence = g_strdup_printf("%s:%d:%" G_GINT64_FORMAT, run, grant->attempt, grant->lease_version);
  g_auto(GStrv) run_parts = g_strsplit(run, "-", -1);
  g_autofree char *trace = g_strjoinv("", run_parts);
  g_autofree char *parent = g_strdup_printf("00-%s-%.8s%.4s%.4s-01", trace, span_text, span_text + 9, span_text + 14);
  env = g_environ_setenv(env, "PAWL_RUN_ID", run, TRUE);
  env = g_environ_setenv(env, "PAWL_PROJECT", grant->project, TRUE);
  env = g_environ_setenv(env, "PAWL_TASK", grant->task_name, TRUE);
  env = g_environ_setenv(env, "PAWL_TRIGGER", grant->trigger_name != NULL ? grant->trigger_name : "", TRUE);
  env = g_environ_setenv(env, "PAWL_ATTEMPT", attempt, TRUE);
  env = g_environ_setenv(env, "PAWL_FENCE", fence, TRUE);
  env = g_environ_setenv(env, "TRACEPARENT", parent, TRUE);
  gint64 nominal_ms = grant->nominal_at_ms != 0 ? grant->nominal_at_ms : grant->queued_at_ms; /* a run by hand: when it was asked for */
  g_autofree char *ms = g_strdup_printf("%" G_GINT64_FORMAT, nominal_ms);
  env = g_environ_setenv(env, "PAWL_NOMINAL_TIME", pawl_instant_text(nominal_ms, at), TRUE);
  env = g_environ_setenv(env, "PAWL_NOMINAL_MS", ms, TRUE);
  if (spec->timeout_ms > 0)
    env = g_environ_setenv(env, "PAWL_DEADLINE", pawl_instant_text(pawl_clock_wall_ms() + spec->timeout_ms, at), TRUE);
  return env;
}

/* ---- the whole ---- */

static char **argv_of(const PawlTaskSpec *spec) {
  if (spec->kind == PAWL_WORK_EXEC) return g_strdupv(spec->argv);
  const char *shell[] = {spec->shell, "-c", spec->command, NULL};
  return g_strdupv((char **)shell);
}

static gboolean fill(PawlWork *work, const PawlWorkerOptions *options, const PawlGrant *grant, const PawlTaskSpec *spec, GError **error) {
  g_autofree User *user = g_new0(User, 1);
  if (!find_user(spec->user, user, error) || !may_run_as(options, user, error)) return FALSE;
  if (user->pw.pw_uid != geteuid()) take_groups(work, user);
  char **env = base_environment(spec, user);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < spec->env->len; i++) ok = add_task_variable(work, g_ptr_array_index(spec->env, i), &env, error);
  work->envp = add_run_variables(env, grant, spec);
  const char *home = g_environ_getenv(work->envp, "HOME");
  work->cwd = g_strdup(spec->cwd != NULL ? spec->cwd : home != NULL && *home != '\0' ? home : "/");
  const char *input = grant->input != NULL ? grant->input : spec->input;
  if (input != NULL) work->input = g_bytes_new(input, strlen(input));
  return ok;
}

PawlWork *pawl_link_work(const PawlWorkerOptions *options, const PawlGrant *grant, const PawlTaskSpec *spec, GError **error) {
  PawlWork *work = g_new0(PawlWork, 1);
  work->fence = (PawlFence){grant->run, grant->attempt, grant->lease_version, grant->token};
  work->argv = argv_of(spec);
  work->umask = spec->umask;
  work->timeout_ms = spec->timeout_ms;
  work->kill_after_ms = spec->kill_after_ms;
  work->keep_background = spec->keep_background;
  work->drain_output_ms = OUTPUT_DRAIN_MS;
  work->output_cap_bytes = (gsize)spec->output_cap_bytes;
  work->secrets = g_ptr_array_new_with_free_func(g_free);
  work->label = grant->trigger_name != NULL ? g_strconcat(grant->task_name, "/", grant->trigger_name, NULL) : g_strdup(grant->task_name);
  if (fill(work, options, grant, spec, error)) return work;
  pawl_work_free(work);
  return NULL;
}
