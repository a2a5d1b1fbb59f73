/* SPDX-License-Identifier: Apache-2.0 */
/* Task specs: the table of keys, and what must hold between them. Readers of single keys are in spec_task_keys.c. */
#include "domain/spec_task.h"

#include "base/clock.h"
#include "base/error.h"

#include <string.h>

#define FIELD(name) G_STRUCT_OFFSET(PawlTaskSpec, name)

const PawlWord pawl_mail_words[] = {
  {"never", PAWL_MAIL_NEVER}, {"output", PAWL_MAIL_OUTPUT}, {"failure", PAWL_MAIL_FAILURE}, {"always", PAWL_MAIL_ALWAYS}, {NULL, 0}};
static const PawlWord background_words[] = {{"end", FALSE}, {"keep", TRUE}, {NULL, 0}};

/* clang-format off */
static const PawlKey task_rows[] = {
  {.name = "exec", .scopes = PAWL_IN_SPEC, .read = pawl_read_exec, .expected = "a list of texts, the program and its arguments"},
  {.name = "shell", .scopes = PAWL_IN_SPEC, .read = pawl_read_shell, .expected = "a text, the command"},
  {.name = "shell", .scopes = PAWL_IN_DEFAULTS, .read = pawl_read_text, .offset = FIELD(shell), .min = 1, .expected = "a text, the shell's path"},
  {.name = "noop", .scopes = PAWL_IN_SPEC, .read = pawl_read_noop, .expected = "{}"},
  {.name = "description", .scopes = PAWL_IN_SPEC, .read = pawl_read_text, .offset = FIELD(description), .max = 4096, .expected = "a text",
    .none = "none"},
  {.name = "cwd", .scopes = PAWL_EVERYWHERE, .read = pawl_read_cwd, .offset = FIELD(cwd), .min = 1, .max = 4095, .expected = "a text, an absolute path",
    .none = "none"},
  {.name = "env", .scopes = PAWL_IN_SPEC, .read = pawl_read_env, .expected = "a mapping of names to texts"},
  {.name = "env_pass", .scopes = PAWL_EVERYWHERE, .read = pawl_read_env_pass, .expected = "a list of texts, names of variables"},
  {.name = "user", .scopes = PAWL_IN_SPEC, .read = pawl_read_user, .offset = FIELD(user), .min = 1, .max = 64, .expected = "a text, a user's name",
    .none = "none"},
  {.name = "umask", .scopes = PAWL_IN_SPEC, .read = pawl_read_umask, .expected = "a text such as \"022\""},
  {.name = "input", .scopes = PAWL_IN_SPEC, .read = pawl_read_input, .offset = FIELD(input), .expected = "a text or any JSON"},
  {.name = "pool", .scopes = PAWL_EVERYWHERE, .read = pawl_read_text, .offset = FIELD(pool), .min = 1, .max = PAWL_NAME_MAX,
    .expected = "a text, a pool's name"},
  {.name = "slots", .scopes = PAWL_IN_SPEC, .read = pawl_read_int, .offset = FIELD(slots), .min = 1, .max = PAWL_SLOTS_MAX,
    .expected = "a number of slots"},
  {.name = "priority", .scopes = PAWL_EVERYWHERE, .read = pawl_read_int, .offset = FIELD(priority), .min = PAWL_PRIORITY_MIN,
    .max = PAWL_PRIORITY_MAX, .expected = "a number"},
  {.name = "max_active", .scopes = PAWL_EVERYWHERE, .read = pawl_read_int, .offset = FIELD(max_active), .min = 1, .max = PAWL_SLOTS_MAX,
    .expected = "a number of runs", .none = "none"},
  {.name = "timeout", .scopes = PAWL_EVERYWHERE, .read = pawl_read_duration, .offset = FIELD(timeout_ms), .min = 1,
    .expected = "a duration such as 30m, or none", .none = "none"},
  {.name = "kill_after", .scopes = PAWL_EVERYWHERE, .read = pawl_read_duration, .offset = FIELD(kill_after_ms),
    .expected = "a duration such as 10s"},
  {.name = "start_within", .scopes = PAWL_EVERYWHERE, .read = pawl_read_duration, .offset = FIELD(start_within_ms), .min = 1,
    .expected = "a duration such as 1h, or none", .none = "none"},
  {.name = "retry", .scopes = PAWL_EVERYWHERE, .read = pawl_read_retry, .expected = "a mapping such as {attempts: 3, backoff: 30s}"},
  {.name = "background", .scopes = PAWL_EVERYWHERE, .read = pawl_read_word, .offset = FIELD(keep_background), .words = background_words,
    .expected = "'end' or 'keep'"},
  {.name = "mail", .scopes = PAWL_EVERYWHERE, .read = pawl_read_mail, .expected = "a mapping such as {to: root, when: failure}, or never"},
  {.name = "keep", .scopes = PAWL_EVERYWHERE, .read = pawl_read_duration, .offset = FIELD(output_keep_ms), .expected = "a duration such as 7d"},
  {.name = "output", .scopes = PAWL_EVERYWHERE, .read = pawl_read_bytes, .offset = FIELD(output_cap_bytes), .max = 64 * 1024 * 1024,
    .expected = "a size such as 256KiB"},
  {.name = "triggers", .scopes = PAWL_IN_FILE, .read = pawl_read_nothing, .expected = "a mapping of triggers"},
};
/* clang-format on */

const PawlKeyTable pawl_task_keys = {.keys = task_rows,
  .n = G_N_ELEMENTS(task_rows),
  .what = "a task",
  .elsewhere = pawl_trigger_rows,
  .n_elsewhere = PAWL_TRIGGER_ROWS,
  .elsewhere_what = "a trigger or to defaults"};

static void env_var_free(gpointer data) {
  PawlEnvVar *var = data;
  g_free(var->name);
  g_free(var->value);
  g_free(var);
}

PawlTaskSpec *pawl_task_spec_new(void) {
  PawlTaskSpec *spec = g_new0(PawlTaskSpec, 1);
  spec->shell = g_strdup(PAWL_DEFAULT_SHELL);
  spec->env = g_ptr_array_new_with_free_func(env_var_free);
  spec->env_pass = g_new0(char *, 1);
  spec->umask = -1;
  spec->pool = g_strdup(PAWL_POOL_DEFAULT);
  spec->slots = 1;
  spec->kill_after_ms = PAWL_DEFAULT_KILL_AFTER_MS;
  spec->retry_attempts = 1;
  spec->retry_backoff_ms = PAWL_DEFAULT_BACKOFF_MS;
  spec->retry_max_backoff_ms = PAWL_DEFAULT_MAX_BACKOFF_MS;
  spec->retry_when = PAWL_RETRY_FAILED | PAWL_RETRY_TIMED_OUT | PAWL_RETRY_LOST;
  spec->output_keep_ms = PAWL_DEFAULT_KEEP_MS;
  spec->output_cap_bytes = PAWL_DEFAULT_OUTPUT_BYTES;
  return spec;
}

void pawl_task_spec_free(PawlTaskSpec *spec) {
  if (spec == NULL) return;
  g_strfreev(spec->argv);
  g_free(spec->command);
  g_free(spec->shell);
  g_free(spec->description);
  g_free(spec->cwd);
  g_ptr_array_unref(spec->env);
  g_strfreev(spec->env_pass);
  g_free(spec->user);
  g_free(spec->input);
  g_free(spec->pool);
  g_free(spec->mail_to);
  g_free(spec);
}

static void check_work(PawlReader *reader, const json_t *object) {
  static const char *const kinds[] = {"exec", "shell", "noop"};
  const char *first = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
    PawlSpot spot;
    if (json_object_get(object, kinds[i]) == NULL) continue;
    pawl_enter_key(reader, &spot, object, kinds[i]);
    if (first != NULL) pawl_say_key_error(reader, NULL, "a task has one of exec, shell and noop, and this one has '%s' already", first);
    pawl_leave(reader);
    if (first == NULL) first = kinds[i];
  }
  if (first == NULL)
    pawl_say_error(reader, "write exec: [program, argument], shell: \"command\" or noop: {}", "it does not say what to run");
}

static void check_retry(PawlReader *reader, const json_t *object, PawlTaskSpec *spec) {
  PawlSpot spot, max_spot;
  const json_t *retry = json_object_get(object, "retry");
  if (spec->retry_max_backoff_ms >= spec->retry_backoff_ms) return;
  if (json_object_get(retry, "max_backoff") == NULL) {
    spec->retry_max_backoff_ms = spec->retry_backoff_ms;
    return;
  }
  pawl_enter_key(reader, &spot, object, "retry");
  pawl_enter_key(reader, &max_spot, retry, "max_backoff");
  pawl_say_error(reader, NULL, "shorter than backoff");
  pawl_leave(reader);
  pawl_leave(reader);
}

static void check_mail(PawlReader *reader, const json_t *object, PawlTaskSpec *spec) {
  PawlSpot spot;
  if (spec->mail_when == PAWL_MAIL_NEVER) g_clear_pointer(&spec->mail_to, g_free);
  if (spec->mail_when == PAWL_MAIL_NEVER || spec->mail_to != NULL) return;
  gboolean own = json_object_get(object, "mail") != NULL;
  if (own) pawl_enter_key(reader, &spot, object, "mail");
  pawl_say_error(reader, "mail: {to: root, when: failure}", "mail needs a receiver");
  if (own) pawl_leave(reader);
}

PawlTaskSpec *pawl_task_spec_read(PawlReader *reader, const json_t *defaults, const json_t *object, guint scope) {
  PawlTaskSpec *spec = pawl_task_spec_new();
  guint before = reader->errors;
  if (defaults != NULL) {
    PawlReader quiet = *reader;
    quiet.quiet = TRUE;
    pawl_read_object(&quiet, &pawl_task_keys, PAWL_IN_DEFAULTS, defaults, spec, TRUE);
  }
  pawl_read_object(reader, &pawl_task_keys, scope, object, spec, FALSE);
  gboolean keys_are_good = reader->errors == before;
  check_work(reader, object);
  if (keys_are_good) {
    check_retry(reader, object, spec);
    check_mail(reader, object, spec);
  }
  if (spec->kind != PAWL_WORK_SHELL) g_clear_pointer(&spec->shell, g_free);
  return spec;
}

json_t *pawl_stored_parse(const char *json, const char *what, GError **error) {
  g_autoptr(GError) why = NULL;
  g_autoptr(json_t) tree = pawl_json_parse(json, strlen(json), &why);
  if (json_is_object(tree)) return g_steal_pointer(&tree);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a stored %s cannot be read (damaged): %s", what,
    why != NULL ? why->message : "it is no JSON object");
  return NULL;
}

gboolean pawl_stored_check(const PawlReader *reader, const char *what, GError **error) {
  if (reader->errors == 0) return TRUE;
  g_autofree char *why = pawl_issue_text(g_ptr_array_index(reader->issues, 0));
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INTERNAL, "a stored %s cannot be read (damaged, or written by a newer pawl): %s", what, why);
  return FALSE;
}

PawlTaskSpec *pawl_task_spec_from_stored(const char *json, GError **error) {
  g_autoptr(GPtrArray) issues = g_ptr_array_new_with_free_func((GDestroyNotify)pawl_issue_free);
  PawlReader reader = {.issues = issues, .file = "", .stored = TRUE};
  g_autoptr(json_t) tree = pawl_stored_parse(json, "task", error);
  if (tree == NULL) return NULL;
  g_autoptr(PawlTaskSpec) spec = pawl_task_spec_read(&reader, NULL, tree, PAWL_IN_STORED);
  if (!pawl_stored_check(&reader, "task", error)) return NULL;
  return g_steal_pointer(&spec);
}
