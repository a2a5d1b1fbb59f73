/* SPDX-License-Identifier: Apache-2.0 */
/* From argv to a call: the verb is found, then GOption reads the options of the verb, of the program and, for `up`, its settings, all by
 * the tables. */
#include "base/clock.h"
#include "base/error.h"
#include "cli/verb.h"
#include "domain/issue.h"

#include <string.h>

static const PawlOption global_options[] = {
  {"json", 0, PAWL_OPTION_FLAG, offsetof(PawlCall, json), NULL, "Print JSON; errors too", 0, 0, 0},
  {"quiet", 'q', PAWL_OPTION_FLAG, offsetof(PawlCall, quiet), NULL, "Leave out notes and progress", 0, 0, 0},
  {"no-color", 0, PAWL_OPTION_FLAG, offsetof(PawlCall, no_color), NULL, "No colours, as NO_COLOR=1", 0, 0, 0},
  {"help", 'h', PAWL_OPTION_FLAG, offsetof(PawlCall, help), NULL, "Show this help", 0, 0, 0},
};

const PawlOption *pawl_global_options(gsize *ret_n) {
  *ret_n = G_N_ELEMENTS(global_options);
  return global_options;
}

static const PawlOption *find_option(const PawlOption *options, gsize n, const char *word) {
  for (gsize i = 0; i < n; i++)
    if (word[0] == '-' && word[1] == '-' ? strcmp(options[i].name, word + 2) == 0 : options[i].letter != 0 && options[i].letter == word[1])
      return &options[i];
  return NULL;
}

static gboolean takes_setting(const PawlVerb *verb, const PawlSetting *setting) { return !setting->up_only || verb->up_settings; }

/* Whether a word, "--name" or "-n", is an option whose value is the next word. */
static gboolean has_value(const PawlVerb *verb, const char *word) {
  const PawlSetting *setting = g_str_has_prefix(word, "--") ? pawl_setting_find(word + 2) : NULL;
  if (verb == NULL) return setting != NULL && !setting->up_only;
  const PawlOption *option = find_option(verb->options, verb->n_options, word);
  if (option != NULL) return option->kind != PAWL_OPTION_FLAG;
  return setting != NULL && takes_setting(verb, setting);
}

void pawl_split_verb(int argc, char **argv, const char **ret_verb, GPtrArray **ret_rest) {
  GPtrArray *rest = g_ptr_array_new();
  const char *verb = NULL;
  for (int i = 1; i < argc; i++) {
    if (verb != NULL || argv[i][0] == '-') {
      g_ptr_array_add(rest, argv[i]);
      if (verb == NULL && has_value(NULL, argv[i]) && i + 1 < argc) g_ptr_array_add(rest, argv[++i]);
    } else {
      verb = argv[i];
    }
  }
  *ret_verb = verb;
  *ret_rest = rest;
}

static gboolean bad_value(GError **error, const char *word, const char *format, ...) G_GNUC_PRINTF(3, 4);
static gboolean bad_value(GError **error, const char *word, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *why = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%s: %s", word, why);
  return FALSE;
}

static void append_text(char ***texts, const char *text) {
  guint n = *texts != NULL ? g_strv_length(*texts) : 0;
  *texts = g_renew(char *, *texts, n + 2);
  (*texts)[n] = g_strdup(text);
  (*texts)[n + 1] = NULL;
}

/* Puts a value where the row says. */
static gboolean store_value(const PawlOption *option, const char *word, const char *value, char *base, GError **error) {
  g_autoptr(GError) why = NULL;
  void *field = base + option->at;
  gint64 number;
  if (value != NULL && option->kind != PAWL_OPTION_FILE && option->kind != PAWL_OPTION_FILES && !g_utf8_validate(value, -1, NULL))
    return bad_value(error, word, "the value is not valid UTF-8");
  switch (option->kind) {
  case PAWL_OPTION_FLAG: *(gboolean *)field = TRUE; break;
  case PAWL_OPTION_FILE:
    if (*(char **)field != NULL) return bad_value(error, word, "it is given twice, and takes one file");
    *(char **)field = g_strdup(value);
    break;
  case PAWL_OPTION_TEXT:
    g_free(*(char **)field);
    *(char **)field = g_strdup(value);
    break;
  case PAWL_OPTION_TEXTS:
  case PAWL_OPTION_FILES: append_text(field, value); break;
  case PAWL_OPTION_COUNT:
    if (!g_ascii_string_to_signed(value, 10, option->min, option->max, &number, NULL))
      return bad_value(error, word, "'%.60s' is no number from %d to %d", value, option->min, option->max);
    *(gint *)field = (gint)number;
    break;
  case PAWL_OPTION_DURATION:
    if (!pawl_duration_parse(value, (gint64 *)field, &why)) return bad_value(error, word, "%s", why->message);
    break;
  }
  return TRUE;
}

/* GOption calls this for each option; `word` is as it was written, "--limit" or "-n". */
static gboolean take_option(const char *word, const char *value, gpointer data, GError **error) {
  PawlCall *call = data;
  const PawlOption *option = find_option(call->verb->options, call->verb->n_options, word);
  if (option != NULL) return store_value(option, word, value, call->options, error);
  option = find_option(global_options, G_N_ELEMENTS(global_options), word);
  if (option != NULL) return store_value(option, word, value, (char *)call, error);
  const PawlSetting *setting = pawl_setting_find(word + 2);
  if (!setting->any_bytes && !g_utf8_validate(value, -1, NULL)) return bad_value(error, word, "the value is not valid UTF-8");
  pawl_settings_set_flag(call->settings, setting->id, value);
  return TRUE;
}

/* GOption takes "-1" for an option; as an argument it goes by with this before it. */
#define NUMBER_MARK '\001'

static gboolean is_negative_number(const char *word) {
  return word[0] == '-' && word[1] != '\0' && strspn(word + 1, "0123456789") == strlen(word + 1);
}

static gboolean take_argument(const char *word, const char *value, gpointer data, GError **error) {
  PawlCall *call = data;
  if (!call->verb->any_bytes && !g_utf8_validate(value, -1, NULL)) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "argument %u is not valid UTF-8", call->n_args + 1);
    return FALSE;
  }
  append_text(&call->args, value[0] == NUMBER_MARK && is_negative_number(value + 1) ? value + 1 : value);
  call->n_args++;
  return TRUE;
}

static void add_options(GArray *entries, const PawlOption *options, gsize n) {
  for (gsize i = 0; i < n; i++) {
    GOptionEntry entry = {options[i].name, options[i].letter, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, (gpointer)take_option,
      options[i].help, options[i].value};
    if (options[i].kind == PAWL_OPTION_FLAG) entry.flags = G_OPTION_FLAG_NO_ARG;
    g_array_append_val(entries, entry);
  }
}

static GArray *entries_for(const PawlVerb *verb) {
  GArray *entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
  GOptionEntry arguments = {G_OPTION_REMAINING, 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, (gpointer)take_argument, NULL, NULL};
  add_options(entries, verb->options, verb->n_options);
  add_options(entries, global_options, G_N_ELEMENTS(global_options));
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) {
    const PawlSetting *setting = &pawl_setting_table()[i];
    GOptionEntry entry = {
      setting->name, 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, (gpointer)take_option, setting->help, setting->value};
    if (takes_setting(verb, setting)) g_array_append_val(entries, entry);
  }
  g_array_append_val(entries, arguments);
  return entries;
}

/* GOption does not know "-n5"; it is written as "-n" "5" for it. */
static char **words_for(const PawlVerb *verb, const GPtrArray *rest) {
  GPtrArray *words = g_ptr_array_new();
  gboolean options = TRUE;
  g_ptr_array_add(words, g_strdup("pawl"));
  for (guint i = 0; i < rest->len; i++) {
    const char *word = g_ptr_array_index(rest, i);
    if (strcmp(word, "--") == 0) options = FALSE;
    if (options && word[0] == '-' && word[1] != '-' && word[1] != '\0' && word[2] != '\0' && has_value(verb, word)) {
      g_ptr_array_add(words, g_strndup(word, 2));
      g_ptr_array_add(words, g_strdup(word + 2));
      continue;
    }
    if (options && is_negative_number(word)) {
      g_ptr_array_add(words, g_strdup_printf("%c%s", NUMBER_MARK, word));
      continue;
    }
    g_ptr_array_add(words, g_strdup(word));
    if (options && word[0] == '-' && has_value(verb, word) && i + 1 < rest->len)
      g_ptr_array_add(words, g_strdup(g_ptr_array_index(rest, ++i)));
  }
  g_ptr_array_add(words, NULL);
  return (char **)g_ptr_array_free(words, FALSE);
}

/* The first option that the verb does not have, and the nearest one that it has. */
static gboolean unknown_option(const PawlVerb *verb, const GPtrArray *rest, GError **error) {
  g_autoptr(GArray) entries = entries_for(verb);
  g_autoptr(GPtrArray) known = g_ptr_array_new();
  for (guint i = 0; i + 1 < entries->len; i++) g_ptr_array_add(known, (gpointer)g_array_index(entries, GOptionEntry, i).long_name);
  g_ptr_array_add(known, NULL);
  for (guint i = 0; i < rest->len; i++) {
    const char *word = g_ptr_array_index(rest, i);
    if (!g_str_has_prefix(word, "--") || word[2] == '\0') continue;
    g_autofree char *name = g_strndup(word + 2, strcspn(word + 2, "="));
    if (g_strv_contains((const char *const *)known->pdata, name)) continue;
    g_autofree char *shown = g_utf8_make_valid(name, -1);
    const char *nearest = pawl_nearest_word(shown, (const char *const *)known->pdata);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "unknown option --%s; %s%s%s", shown,
      nearest != NULL ? "did you mean --" : "see `pawl ", nearest != NULL ? nearest : verb->name, nearest != NULL ? "?" : " --help`");
    return FALSE;
  }
  return FALSE;
}

static gboolean check_count(const PawlCall *call, GError **error) {
  const PawlVerb *verb = call->verb;
  if (call->help) return TRUE;
  g_autofree char *usage = g_strdup_printf("pawl %s%s%s", verb->name, *verb->synopsis != '\0' ? " " : "", verb->synopsis);
  if ((gint)call->n_args < verb->min_args) {
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "an argument is missing; write `%s`", usage);
    return FALSE;
  }
  if (verb->max_args >= 0 && (gint)call->n_args > verb->max_args) {
    g_autofree char *shown = g_utf8_make_valid(call->args[verb->max_args], -1);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "'%.80s' is one argument too many; write `%s`", shown, usage);
    return FALSE;
  }
  return TRUE;
}

static PawlCall *new_call(const PawlVerb *verb, char **environment) {
  PawlCall *call = g_new0(PawlCall, 1);
  call->verb = verb;
  call->environment = environment;
  call->settings = pawl_settings_new(environment);
  call->options = g_malloc0(MAX(verb->options_bytes, 1));
  call->args = g_new0(char *, 1);
  for (gsize i = 0; i < verb->n_options; i++) {
    void *field = (char *)call->options + verb->options[i].at;
    if (verb->options[i].kind == PAWL_OPTION_COUNT) *(gint *)field = verb->options[i].initial;
    if (verb->options[i].kind == PAWL_OPTION_DURATION) *(gint64 *)field = verb->options[i].initial;
  }
  return call;
}

PawlCall *pawl_call_parse(const PawlVerb *verb, const GPtrArray *rest, char **environment, GError **error) {
  g_autoptr(PawlCall) call = new_call(verb, environment);
  g_autoptr(GArray) entries = entries_for(verb);
  g_autoptr(GError) why = NULL;
  g_auto(GStrv) words = words_for(verb, rest);
  GOptionContext *context = g_option_context_new(NULL);
  GOptionGroup *group = g_option_group_new("pawl", "", "", call, NULL);
  g_option_group_add_entries(group, (const GOptionEntry *)entries->data);
  g_option_context_set_main_group(context, group);
  g_option_context_set_help_enabled(context, FALSE);
  gboolean parsed = g_option_context_parse_strv(context, &words, &why);
  g_option_context_free(context);
  if (parsed) return check_count(call, error) ? g_steal_pointer(&call) : NULL;
  if (g_error_matches(why, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)) unknown_option(verb, rest, error);
  if (error != NULL && *error == NULL) {
    why->message[0] = why->domain == PAWL_ERROR ? why->message[0] : g_ascii_tolower(why->message[0]);
    g_autofree char *shown = g_utf8_make_valid(why->message, -1);
    g_set_error(error, PAWL_ERROR, PAWL_ERROR_INVALID, "%s; see `pawl %s --help`", shown, verb->name);
  }
  return NULL;
}

void pawl_call_free(PawlCall *call) {
  if (call == NULL) return;
  for (gsize i = 0; i < call->verb->n_options; i++) {
    const PawlOption *option = &call->verb->options[i];
    void *field = (char *)call->options + option->at;
    if (option->kind == PAWL_OPTION_TEXT || option->kind == PAWL_OPTION_FILE) g_free(*(char **)field);
    if (option->kind == PAWL_OPTION_TEXTS || option->kind == PAWL_OPTION_FILES) g_strfreev(*(char ***)field);
  }
  g_free(call->options);
  pawl_settings_free(call->settings);
  g_strfreev(call->args);
  g_free(call);
}
