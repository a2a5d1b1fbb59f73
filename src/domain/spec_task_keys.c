/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of those keys of a task that are more than one plain value. */
#include "domain/spec_task.h"

#include "base/clock.h"

#include <string.h>

#define FIELD(name) G_STRUCT_OFFSET(PawlTaskSpec, name)

/* A list of texts as a new vector, or NULL after saying what is wrong. */
static char **take_texts(PawlReader *reader, const PawlKey *key, const json_t *list) {
  g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
  gsize i, bytes = 0;
  json_t *item;
  guint before = reader->errors;
  if (!json_is_array(list)) {
    pawl_say_expected(reader, key->expected, list);
    return NULL;
  }
  json_array_foreach((json_t *)list, i, item) {
    PawlSpot spot;
    pawl_enter_index(reader, &spot, list, i);
    if (!json_is_string(item))
      pawl_say_expected(reader, "a text", item);
    else {
      bytes += json_string_length(item) + 1;
      g_ptr_array_add(texts, g_strdup(json_string_value(item)));
    }
    pawl_leave(reader);
  }
  if (bytes > PAWL_ARGV_MAX_BYTES) pawl_say_error(reader, NULL, "longer than %d bytes in all", PAWL_ARGV_MAX_BYTES);
  if (reader->errors != before) return NULL;
  g_ptr_array_add(texts, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&texts), FALSE);
}

void pawl_read_exec(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  if (json_is_string(value)) {
    pawl_say_error(reader, "a command line for a shell is written as shell: \"…\"", "expected %s, found a text", key->expected);
    return;
  }
  g_auto(GStrv) argv = take_texts(reader, key, value);
  if (argv == NULL) return;
  if (argv[0] == NULL || *argv[0] == '\0') {
    pawl_say_error(reader, NULL, "expected %s, found an empty one", key->expected);
    return;
  }
  spec->kind = PAWL_WORK_EXEC;
  g_strfreev(spec->argv);
  spec->argv = g_steal_pointer(&argv);
}

static const PawlKey shell_rows[] = {
  {.name = "command",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_text,
    .offset = FIELD(command),
    .min = 1,
    .expected = "a text, the command"},
  {.name = "program",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_text,
    .offset = FIELD(shell),
    .min = 1,
    .max = 4095,
    .expected = "a text, the shell's path"},
};
static const PawlKeyTable shell_keys = {.keys = shell_rows, .n = G_N_ELEMENTS(shell_rows), .what = "shell"};

void pawl_read_shell(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  static const PawlKey command = {
    .name = "shell", .read = pawl_read_text, .offset = FIELD(command), .min = 1, .expected = "a text, the command"};
  PawlTaskSpec *spec = target;
  spec->kind = PAWL_WORK_SHELL;
  if (!json_is_object(value)) {
    pawl_read_text(reader, &command, value, target);
    return;
  }
  pawl_read_object(reader, &shell_keys, PAWL_IN_FILE, value, target, FALSE);
  if (json_object_get(value, "command") == NULL)
    pawl_say_error(reader, "write {command: \"…\", program: /bin/bash}", "the command is missing");
}

void pawl_read_noop(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  if (json_object_size(value) > 0 || !(json_is_object(value) || json_is_null(value))) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  spec->kind = PAWL_WORK_NOOP;
}

void pawl_read_cwd(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  if (json_is_string(value) && strcmp(json_string_value(value), key->none) == 0) value = json_null();
  if (json_is_string(value) && json_string_length(value) > 0 && json_string_value(value)[0] != '/') {
    pawl_say_error(reader, "begin it with /", "a working directory is an absolute path");
    return;
  }
  pawl_read_text(reader, key, value, target);
}

static gboolean check_env_name(PawlReader *reader, const char *name, gboolean of_key) {
  const char *why = NULL;
  if (g_str_has_prefix(name, "PAWL_"))
    why = "names that begin with PAWL_ are pawl's own";
  else if (!(g_ascii_isalpha(*name) || *name == '_') || strlen(name) > PAWL_NAME_MAX ||
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") != strlen(name))
    why = "not a name of a variable: letters, digits and '_', not beginning with a digit";
  if (why == NULL) return TRUE;
  if (of_key)
    pawl_say_key_error(reader, NULL, "%s", why);
  else
    pawl_say_error(reader, NULL, "%s", why);
  return FALSE;
}

static const PawlKey env_rows[] = {
  {.name = "from_file", .scopes = PAWL_EVERYWHERE, .read = pawl_read_text, .min = 1, .max = 4095, .expected = "a text, a file's path"},
  {.name = "from_env",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_text,
    .min = 1,
    .max = PAWL_NAME_MAX,
    .expected = "a text, a variable's name"},
};
static const PawlKeyTable env_keys = {.keys = env_rows, .n = G_N_ELEMENTS(env_rows), .what = "a variable"};

static PawlEnvVar *take_env_var(PawlReader *reader, const char *name, const json_t *value) {
  static const PawlKey literal = {.name = "env", .read = pawl_read_text, .expected = "a text, {from_file: PATH} or {from_env: NAME}"};
  g_autofree char *text = NULL;
  guint before = reader->errors;
  PawlEnvSource source = PAWL_ENV_LITERAL;
  if (json_is_object(value)) {
    source = json_object_get(value, "from_file") != NULL ? PAWL_ENV_FROM_FILE : PAWL_ENV_FROM_ENV;
    pawl_read_object(reader, &env_keys, PAWL_IN_FILE, value, &text, FALSE);
    if (reader->errors == before && json_object_size(value) != 1) pawl_say_error(reader, NULL, "expected one of from_file and from_env");
    if (reader->errors == before && source == PAWL_ENV_FROM_FILE && *text != '/')
      pawl_say_error(reader, "begin it with /", "from_file is an absolute path");
    if (reader->errors == before && source == PAWL_ENV_FROM_ENV) check_env_name(reader, text, FALSE);
  } else
    pawl_read_text(reader, &literal, value, &text);
  if (reader->errors != before) return NULL;
  PawlEnvVar *var = g_new0(PawlEnvVar, 1);
  *var = (PawlEnvVar){g_strdup(name), source, g_steal_pointer(&text)};
  return var;
}

static gint compare_env(gconstpointer a, gconstpointer b) {
  return strcmp((*(PawlEnvVar *const *)a)->name, (*(PawlEnvVar *const *)b)->name);
}

void pawl_read_env(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  const char *name;
  json_t *item;
  gsize bytes = 0;
  if (!json_is_object(value)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  g_ptr_array_set_size(spec->env, 0);
  json_object_foreach((json_t *)value, name, item) {
    PawlSpot spot;
    pawl_enter_key(reader, &spot, value, name);
    PawlEnvVar *var = check_env_name(reader, name, TRUE) ? take_env_var(reader, name, item) : NULL;
    if (var != NULL) {
      bytes += strlen(var->name) + strlen(var->value) + 2;
      g_ptr_array_add(spec->env, var);
    }
    pawl_leave(reader);
  }
  /* in the order of names, so that two ways to write the same mapping are one spec */
  g_ptr_array_sort(spec->env, compare_env);
  if (bytes > PAWL_ARGV_MAX_BYTES) pawl_say_error(reader, NULL, "longer than %d bytes in all", PAWL_ARGV_MAX_BYTES);
}

void pawl_read_env_pass(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  g_auto(GStrv) names = take_texts(reader, key, value);
  for (gsize i = 0; names != NULL && names[i] != NULL; i++) {
    PawlSpot spot;
    pawl_enter_index(reader, &spot, value, i);
    check_env_name(reader, names[i], FALSE);
    pawl_leave(reader);
  }
  if (names == NULL) return;
  g_strfreev(spec->env_pass);
  spec->env_pass = g_steal_pointer(&names);
}

void pawl_read_user(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  const char *name = json_string_value(value);
  if (name != NULL && (*name == '-' || strpbrk(name, ":/ \t\n\r") != NULL)) {
    pawl_say_error(reader, NULL, "not a name of a user");
    return;
  }
  pawl_read_text(reader, key, value, target);
}

void pawl_read_umask(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  const char *text = json_string_value(value);
  if (json_is_null(value))
    spec->umask = -1;
  else if (text == NULL)
    pawl_say_expected(reader, key->expected, value);
  else if (*text == '\0' || strlen(text) > 4 || strspn(text, "01234567") != strlen(text) || g_ascii_strtoull(text, NULL, 8) > 0777)
    pawl_say_error(reader, NULL, "expected three octal digits such as \"022\"");
  else
    spec->umask = (gint)g_ascii_strtoull(text, NULL, 8);
}

const PawlWord pawl_retry_when_words[] = {
  {"failed", PAWL_RETRY_FAILED}, {"timed_out", PAWL_RETRY_TIMED_OUT}, {"lost", PAWL_RETRY_LOST}, {NULL, 0}};

static void read_retry_when(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  static const PawlKey item_key = {
    .name = "when", .read = pawl_read_word, .words = pawl_retry_when_words, .expected = "'failed', 'timed_out' or 'lost'"};
  PawlTaskSpec *spec = target;
  gsize i;
  json_t *item;
  if (!json_is_array(value)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  spec->retry_when = 0;
  json_array_foreach((json_t *)value, i, item) {
    PawlSpot spot;
    gint bit = 0;
    pawl_enter_index(reader, &spot, value, i);
    pawl_read_word(reader, &item_key, item, &bit);
    pawl_leave(reader);
    spec->retry_when |= (guint)bit;
  }
}

static const PawlKey retry_rows[] = {
  {.name = "attempts",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_int,
    .offset = FIELD(retry_attempts),
    .min = 1,
    .max = 1000,
    .expected = "a number of attempts in all"},
  {.name = "backoff",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_duration,
    .offset = FIELD(retry_backoff_ms),
    .expected = "a duration such as 30s"},
  {.name = "max_backoff",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_duration,
    .offset = FIELD(retry_max_backoff_ms),
    .expected = "a duration such as 10m"},
  {.name = "when", .scopes = PAWL_EVERYWHERE, .read = read_retry_when, .expected = "a list of failed, timed_out and lost"},
  {.name = "later", .scopes = PAWL_EVERYWHERE, .read = pawl_read_bool, .offset = FIELD(retry_later), .expected = "true or false"},
};
static const PawlKeyTable retry_keys = {.keys = retry_rows, .n = G_N_ELEMENTS(retry_rows), .what = "retry"};

void pawl_read_retry(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  if (json_is_object(value))
    pawl_read_object(reader, &retry_keys, PAWL_IN_FILE, value, target, FALSE);
  else
    pawl_say_expected(reader, key->expected, value);
}

static void read_mail_to(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  const char *text = json_string_value(value);
  gboolean odd = text != NULL && *text == '-';
  for (const char *p = text; p != NULL && *p != '\0'; p++) odd |= g_ascii_iscntrl(*p);
  if (odd)
    pawl_say_error(reader, NULL, "not an address");
  else
    pawl_read_text(reader, key, value, target);
}

static const PawlKey mail_rows[] = {
  {.name = "to",
    .scopes = PAWL_EVERYWHERE,
    .read = read_mail_to,
    .offset = FIELD(mail_to),
    .min = 1,
    .max = 1024,
    .expected = "a text, an address",
    .none = "none"},
  {.name = "when",
    .scopes = PAWL_EVERYWHERE,
    .read = pawl_read_word,
    .offset = FIELD(mail_when),
    .words = pawl_mail_words,
    .expected = "'never', 'output', 'failure' or 'always'"},
};
static const PawlKeyTable mail_keys = {.keys = mail_rows, .n = G_N_ELEMENTS(mail_rows), .what = "mail"};

void pawl_read_mail(PawlReader *reader, const PawlKey *key, const json_t *value, gpointer target) {
  PawlTaskSpec *spec = target;
  const char *word = json_string_value(value);
  if (word != NULL && strcmp(word, "never") == 0) {
    spec->mail_when = PAWL_MAIL_NEVER;
    return;
  }
  if (!json_is_object(value)) {
    pawl_say_expected(reader, key->expected, value);
    return;
  }
  pawl_read_object(reader, &mail_keys, PAWL_IN_FILE, value, target, FALSE);
  /* a receiver alone means cron's rule: mail when there is something to tell */
  if (json_object_get(value, "to") != NULL && json_object_get(value, "when") == NULL && spec->mail_when == PAWL_MAIL_NEVER)
    spec->mail_when = PAWL_MAIL_OUTPUT;
}
