/* SPDX-License-Identifier: Apache-2.0 */
/* A crontab as the tree of a YAML file that does the same: each line's command, user, variables, input and time, and cron's own ways
 * (runs may overlap, what was missed is gone, what a job leaves behind lives on, output is mailed). Everything that differs from pawl's
 * defaults is written out, so that the trees of several crontabs can be put together. */
#include "domain/crontab.h"

#include "base/clock.h"

#include <string.h>

#define CRON_PATH "/usr/bin:/bin"
#define CRON_SHELL "/bin/sh"
#define HASH_DIGITS 8

typedef struct {
  char *slug, *user, *command; /* user NULL: whom the worker runs as */
  char *identity;              /* canonical JSON of the task without its triggers */
  json_t *task, *triggers;
} Job;

static void job_free(gpointer data) {
  Job *job = data;
  g_free(job->slug);
  g_free(job->user);
  g_free(job->command);
  g_free(job->identity);
  json_decref(job->task);
  g_free(job);
}

/* The command up to the first % that is not escaped, and the input behind it, as cron cuts them: in the command \% is a %, in the input
 * further percent signs are newlines, and a last line gets its newline. */
static void split_percent(const char *rest, char **ret_command, char **ret_input) {
  GString *command = g_string_new(NULL), *input = g_string_new(NULL);
  const char *p = rest;
  gboolean escaped = FALSE;
  for (; *p != '\0'; p++) {
    if (escaped && *p == '%')
      g_string_truncate(command, command->len - 1);
    else if (*p == '%')
      break;
    g_string_append_c(command, *p);
    escaped = !escaped && *p == '\\';
  }
  if (*p == '%') p++;
  for (escaped = FALSE; *p != '\0'; p++) {
    if (escaped && *p == '%') g_string_truncate(input, input->len - 1);
    g_string_append_c(input, *p == '%' && !escaped ? '\n' : *p);
    escaped = *p == '\\';
  }
  if (input->len > 0 && input->str[input->len - 1] != '\n') g_string_append_c(input, '\n');
  *ret_command = g_string_free(command, FALSE);
  *ret_input = input->len > 0 ? g_string_free(input, FALSE) : (g_string_free(input, TRUE), NULL);
}

static const char *variable(const PawlCrontabLine *line, const char *name) { return json_string_value(json_object_get(line->env, name)); }

/* MAILTO names the receiver, an empty one nobody; without one it is the owner. */
static json_t *mail_of(const PawlCrontabLine *line, const char *owner) {
  const char *to = variable(line, "MAILTO");
  if (to == NULL) to = owner;
  if (to == NULL || !pawl_crontab_is_receiver(to)) return json_string("never");
  return json_pack("{ssss}", "to", to, "when", "output");
}

/* The variables of the crontab, and those that cron itself would set otherwise than pawl does. */
static json_t *env_of(const PawlCrontabLine *line, const PawlCrontabOptions *options) {
  json_t *env = json_copy(line->env);
  const char *home = variable(line, "HOME");
  if (json_object_get(env, "PATH") == NULL) json_object_set_new(env, "PATH", json_string(CRON_PATH));
  if (json_object_get(env, "SHELL") == NULL) json_object_set_new(env, "SHELL", json_string(CRON_SHELL));
  if (home != NULL && g_strcmp0(home, options->home) == 0) json_object_del(env, "HOME"); /* it has that anyway */
  return env;
}

static json_t *task_of(
  const PawlCrontabLine *line, const PawlCrontabOptions *options, const Job *job, const char *input, const char *owner) {
  json_t *task = json_object();
  const char *shell = variable(line, "SHELL"), *home = variable(line, "HOME");
  if (shell == NULL || !pawl_crontab_is_path(shell) || strcmp(shell, CRON_SHELL) == 0)
    json_object_set_new(task, "shell", json_string(job->command));
  else
    json_object_set_new(task, "shell", json_pack("{ssss}", "command", job->command, "program", shell));
  if (input != NULL) json_object_set_new(task, "input", json_string(input));
  if (job->user != NULL) json_object_set_new(task, "user", json_string(job->user));
  if (home != NULL && pawl_crontab_is_path(home) && g_strcmp0(home, options->home) != 0)
    json_object_set_new(task, "cwd", json_string(home));
  json_object_set_new(task, "env", env_of(line, options));
  json_object_set_new(task, "mail", mail_of(line, owner));
  json_object_set_new(task, "background", json_string("keep"));
  return task;
}

static json_t *trigger_of(const PawlCrontabLine *line) {
  json_t *trigger = json_pack("{ssssssss}", "cron", line->expression, "zone", line->zone, "overlap", "allow", "misfire", "skip");
  if (line->jitter_ms > 0) {
    g_autofree char *jitter = pawl_duration_text(line->jitter_ms);
    json_object_set_new(trigger, "jitter", json_string(jitter));
  }
  return trigger;
}

/* The user of a line of the system format, and what follows; FALSE after saying what is wrong. */
static gboolean take_user(
  const PawlCrontabLine *line, const PawlCrontabOptions *options, char **ret_user, const char **ret_command, GPtrArray *issues) {
  const PawlPlace place = {line->line, line->rest_column};
  gsize n = strcspn(line->rest, " \t");
  const char *command = line->rest + n + strspn(line->rest + n, " \t");
  g_autofree char *user = g_strndup(line->rest, n);
  if (*command == '\0') {
    pawl_issues_add(
      issues, FALSE, options->file, place, NULL, "in a system crontab a user stands before the command", "no command after the user");
    return FALSE;
  }
  if (*user == '-' || strpbrk(user, ":/") != NULL || n > 64) {
    pawl_issues_add(
      issues, FALSE, options->file, place, NULL, "in a system crontab a user stands before the command", "not a name of a user");
    return FALSE;
  }
  if (!options->may_change_user && g_strcmp0(user, options->login) != 0) {
    pawl_issues_add(issues, FALSE, options->file, place, NULL, "import it as root", "a line for user '%s', which '%s' may not run as", user,
      options->login != NULL ? options->login : "this process");
    return FALSE;
  }
  *ret_user = g_steal_pointer(&user);
  *ret_command = command;
  return TRUE;
}

static void add_trigger(json_t *triggers, json_t *trigger) {
  gsize n = json_object_size(triggers) + 1;
  g_autofree char *name = n == 1 ? g_strdup("cron") : g_strdup_printf("cron-%" G_GSIZE_FORMAT, n);
  json_object_set_new(triggers, name, trigger);
}

/* Lines that do the same at other times are one task. */
static void take_line(const PawlCrontabLine *line, gboolean system, const PawlCrontabOptions *options, GPtrArray *jobs,
  GHashTable *by_identity, GPtrArray *issues) {
  const char *rest = line->rest;
  g_autofree char *input = NULL;
  Job *job = g_new0(Job, 1);
  if (system) {
    if (!take_user(line, options, &job->user, &rest, issues)) {
      g_free(job);
      return;
    }
  } else if (options->may_change_user)
    job->user = g_strdup(options->login);
  split_percent(rest, &job->command, &input);
  if (job->command[strspn(job->command, " \t")] == '\0') {
    pawl_issues_add(
      issues, FALSE, options->file, (PawlPlace){line->line, line->rest_column}, NULL, NULL, "no command before the percent sign");
    job_free(job);
    return;
  }
  job->task = task_of(line, options, job, input, system ? job->user : options->login);
  job->identity = pawl_json_canonical(job->task);
  Job *same = g_hash_table_lookup(by_identity, job->identity);
  if (same == NULL) {
    job->triggers = json_object();
    json_object_set_new(job->task, "triggers", job->triggers);
    job->slug = pawl_crontab_task_name(options->file, job->command);
    g_ptr_array_add(jobs, job);
    g_hash_table_insert(by_identity, job->identity, job);
    same = job;
  }
  add_trigger(same->triggers, trigger_of(line));
  if (same != job) job_free(job);
}

/* Names do not depend on where a line stands: two jobs with one slug are told apart by a hash of user and command, and if these are
 * equal too, of all they have. */
static void name_jobs(const GPtrArray *jobs, json_t *tasks) {
  g_autoptr(GHashTable) slugs = g_hash_table_new(g_str_hash, g_str_equal),
                        names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < jobs->len; i++) {
    const Job *job = g_ptr_array_index(jobs, i);
    g_hash_table_insert(slugs, job->slug, GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(slugs, job->slug)) + 1));
    g_autofree char *both = g_strdup_printf("%s\n%s", job->user != NULL ? job->user : "", job->command), *digest = pawl_digest(both, -1);
    char *name = g_strdup_printf("%s-%.*s", job->slug, HASH_DIGITS, digest);
    g_hash_table_insert(names, name, GINT_TO_POINTER(GPOINTER_TO_INT(g_hash_table_lookup(names, name)) + 1));
  }
  for (guint i = 0; i < jobs->len; i++) {
    const Job *job = g_ptr_array_index(jobs, i);
    g_autofree char *both = g_strdup_printf("%s\n%s", job->user != NULL ? job->user : "", job->command), *digest = pawl_digest(both, -1);
    g_autofree char *all = pawl_digest(job->identity, -1);
    g_autofree char *name = g_strdup_printf("%s-%.*s", job->slug, HASH_DIGITS, digest);
    if (GPOINTER_TO_INT(g_hash_table_lookup(names, name)) > 1) {
      g_free(name);
      name = g_strdup_printf("%s-%.*s", job->slug, 2 * HASH_DIGITS, all);
    } else if (GPOINTER_TO_INT(g_hash_table_lookup(slugs, job->slug)) == 1) {
      g_free(name);
      name = g_strdup(job->slug);
    }
    json_object_set(tasks, name, job->task);
  }
}

static json_t *to_json(const char *text, gsize bytes, const PawlCrontabOptions *options, GPtrArray *issues) {
  if (bytes > PAWL_FILE_MAX_BYTES) {
    pawl_issues_add(issues, FALSE, options->file, (PawlPlace){0, 0}, NULL, NULL, "%" G_GSIZE_FORMAT " bytes; a crontab has at most %d",
      bytes, PAWL_FILE_MAX_BYTES);
    return NULL;
  }
  g_autoptr(GPtrArray) lines = pawl_crontab_read(text, bytes, options, issues), jobs = g_ptr_array_new_with_free_func(job_free);
  g_autoptr(GHashTable) by_identity = g_hash_table_new(g_str_hash, g_str_equal);
  PawlCrontabFormat format = options->format;
  if (format == PAWL_CRONTAB_DETECT) format = pawl_crontab_detect(lines, options->file, options->login);
  for (guint i = 0; i < lines->len; i++)
    take_line(g_ptr_array_index(lines, i), format == PAWL_CRONTAB_SYSTEM, options, jobs, by_identity, issues);
  if (pawl_issues_have_error(issues)) return NULL;
  json_t *tree = json_object(), *tasks = json_object();
  json_object_set_new(tree, "tasks", tasks);
  name_jobs(jobs, tasks);
  return tree;
}

json_t *pawl_crontab_to_json(const char *text, gsize bytes, const PawlCrontabOptions *options, GPtrArray *issues) {
  g_autoptr(GPtrArray) own = g_ptr_array_new(); /* those of this file, whatever the caller has collected before */
  json_t *tree = to_json(text, bytes, options, own);
  for (guint i = 0; i < own->len; i++) pawl_issues_move(issues, g_ptr_array_index(own, i));
  return tree;
}
