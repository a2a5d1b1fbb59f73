/* SPDX-License-Identifier: Apache-2.0 */
#include "app/files.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "cli/settings.h"

#include <unistd.h>

/* Errors one by one. Of a YAML file's warnings only how many there are: `pawl validate` shows them, and each start would repeat them. A
 * crontab's say what is not honoured, and nothing else shows them. */
static void log_issues(const char *file, gboolean crontab, const GPtrArray *issues) {
  guint warnings = 0;
  for (guint i = 0; i < issues->len; i++) {
    const PawlIssue *issue = g_ptr_array_index(issues, i);
    g_autofree char *text = pawl_issue_text(issue);
    warnings += issue->warning && !crontab;
    pawl_log(!issue->warning ? PAWL_LOG_ERROR : crontab ? PAWL_LOG_INFO : PAWL_LOG_DEBUG, "file.issue", text, NULL);
  }
  if (warnings == 0) return;
  g_autofree char *count = g_strdup_printf("%s: %u warning%s; `pawl validate` shows them", file, warnings, warnings == 1 ? "" : "s");
  pawl_log(PAWL_LOG_INFO, "file.warnings", count, NULL);
}

static void log_changes(const char *file, const GPtrArray *changes) {
  static const char *const words[] = {[PAWL_CHANGE_ADD] = "added", [PAWL_CHANGE_EDIT] = "changed", [PAWL_CHANGE_REMOVE] = "removed"};
  guint counts[PAWL_CHANGE_NOTE + 1] = {0};
  for (guint i = 0; i < changes->len; i++) {
    const PawlChange *change = g_ptr_array_index(changes, i);
    counts[change->kind]++;
    if (change->kind > PAWL_CHANGE_REMOVE) continue;
    g_autofree char *text = g_strdup_printf("%s %s", words[change->kind], change->object);
    pawl_log(PAWL_LOG_DEBUG, "file.change", text, NULL);
  }
  g_autofree char *text = g_strdup_printf("applied %s: %u added, %u changed, %u removed, %u unchanged", file, counts[PAWL_CHANGE_ADD],
    counts[PAWL_CHANGE_EDIT], counts[PAWL_CHANGE_REMOVE], counts[PAWL_CHANGE_SAME]);
  pawl_log(PAWL_LOG_INFO, "file.applied", text, NULL);
}

static gboolean apply(PawlStore *store, const char *file, PawlBundle *bundle, gboolean starting, GError **error) {
  g_autofree char *mark = g_canonicalize_filename(file, NULL);
  g_autoptr(GPtrArray) changes = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_change_free);
  PawlApplyOptions how = {.owner_mark = mark, .prune = TRUE, .starting = starting};
  if (!pawl_store_apply(store, bundle, &how, changes, error)) {
    g_prefix_error(error, "%s: ", file);
    return FALSE;
  }
  log_changes(file, changes);
  return TRUE;
}

static gboolean read_file(const char *file, char **ret_text, gsize *ret_bytes, GError **error) {
  g_autoptr(GError) failed = NULL;
  if (g_file_get_contents(file, ret_text, ret_bytes, &failed)) return TRUE;
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s cannot be read: %s", file,
    failed->code == G_FILE_ERROR_NOENT   ? "there is no such file"
    : failed->code == G_FILE_ERROR_ACCES ? "permission denied"
                                         : failed->message);
  return FALSE;
}

static void has_errors(const char *file, GError **error) {
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_CONFIG, "%s has errors; nothing of it was changed", file);
}

static gboolean apply_yaml(PawlStore *store, const char *file, gboolean starting, GError **error) {
  g_autofree char *text = NULL;
  gsize bytes = 0;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  if (!read_file(file, &text, &bytes, error)) return FALSE;
  g_autoptr(PawlBundle) bundle = pawl_bundle_from_yaml(text, bytes, file, issues);
  if (bundle != NULL) pawl_bundle_review(bundle, file, pawl_clock_wall_ms(), issues);
  log_issues(file, FALSE, issues);
  if (bundle != NULL) return apply(store, file, bundle, starting, error);
  has_errors(file, error);
  return FALSE;
}

static void collect_users(const PawlBundle *bundle, GPtrArray *users) {
  for (guint i = 0; i < bundle->tasks->len; i++) {
    const PawlTaskDef *task = g_ptr_array_index(bundle->tasks, i);
    if (task->spec->user != NULL && !g_ptr_array_find_with_equal_func(users, task->spec->user, g_str_equal, NULL))
      g_ptr_array_add(users, g_strdup(task->spec->user));
  }
}

static gboolean apply_crontab(PawlStore *store, const char *file, const char *zone, gboolean starting, GPtrArray *users, GError **error) {
  g_autofree char *text = NULL;
  gsize bytes = 0;
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  PawlCrontabOptions how = {.file = file,
    .format = PAWL_CRONTAB_DETECT,
    .host_zone = zone,
    .login = g_get_user_name(),
    .home = g_get_home_dir(),
    .may_change_user = geteuid() == 0};
  if (!read_file(file, &text, &bytes, error)) return FALSE;
  g_autoptr(json_t) json = pawl_crontab_to_json(text, bytes, &how, issues);
  g_autoptr(PawlBundle) bundle = json != NULL ? pawl_bundle_from_json(json, issues) : NULL;
  log_issues(file, TRUE, issues);
  if (bundle == NULL) {
    has_errors(file, error);
    return FALSE;
  }
  collect_users(bundle, users);
  return apply(store, file, bundle, starting, error);
}

gboolean pawl_files_readable(const PawlUpOptions *options, GError **error) {
  g_autofree char *text = NULL;
  gsize bytes;
  if (options->file != NULL && !read_file(options->file, &text, &bytes, error)) return FALSE;
  for (char **file = options->crontabs; file != NULL && *file != NULL; file++) {
    g_clear_pointer(&text, g_free);
    if (!read_file(*file, &text, &bytes, error)) return FALSE;
  }
  return TRUE;
}

/* Whether the tasks of this mark come from one of the files that were given. */
static gboolean is_given(const PawlUpOptions *options, const char *mark) {
  g_autofree char *file = options->file != NULL ? g_canonicalize_filename(options->file, NULL) : NULL;
  if (g_strcmp0(file, mark) == 0) return TRUE;
  for (char **crontab = options->crontabs; crontab != NULL && *crontab != NULL; crontab++) {
    g_autofree char *path = g_canonicalize_filename(*crontab, NULL);
    if (g_str_equal(path, mark)) return TRUE;
  }
  return FALSE;
}

typedef struct {
  const PawlUpOptions *options;
  gint64 given, others;
} OwnerCounts;

static void count_owner(const char *mark, gint64 tasks, gpointer data) {
  OwnerCounts *counts = data;
  if (mark != NULL && is_given(counts->options, mark))
    counts->given += tasks;
  else
    counts->others += tasks;
}

void pawl_files_say_others(PawlStore *store, const PawlUpOptions *options) {
  g_autoptr(GError) failed = NULL;
  OwnerCounts counts = {.options = options};
  if (!pawl_store_owners(store, count_owner, &counts, &failed)) {
    pawl_log(PAWL_LOG_WARNING, "store.failed", "the owners of tasks could not be read", "reason", failed->message, NULL);
    return;
  }
  if (counts.given + counts.others == 0)
    pawl_log(PAWL_LOG_NOTICE, "store.empty", "the store has no tasks yet; `pawl up -f FILE` or `pawl apply -f FILE` brings some", NULL);
  if (counts.others == 0 || (options->file == NULL && options->crontabs == NULL)) return;
  g_autofree char *text = g_strdup_printf(
    "the store also runs %" G_GINT64_FORMAT " task%s of other files; `pawl list` shows them", counts.others, counts.others == 1 ? "" : "s");
  pawl_log(PAWL_LOG_INFO, "store.others", text, NULL);
}

gboolean pawl_files_apply(PawlStore *store, const PawlUpOptions *options, gboolean starting, GPtrArray *users, GError **error) {
  g_auto(GStrv) environment = g_get_environ();
  g_autofree char *host_zone = options->zone != NULL ? g_strdup(options->zone) : pawl_host_zone(environment);
  if (options->file != NULL && !apply_yaml(store, options->file, starting, error)) return FALSE;
  for (char **file = options->crontabs; file != NULL && *file != NULL; file++)
    if (!apply_crontab(store, *file, host_zone, starting, users, error)) return FALSE;
  return TRUE;
}
