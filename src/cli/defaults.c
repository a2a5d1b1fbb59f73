/* SPDX-License-Identifier: Apache-2.0 */
/* pawl defaults: what is in force where nothing is said, and the program's settings with their sources. */
#include "base/error.h"
#include "cli/shapes.h"
#include "cli/verbs.h"

static const PawlExample examples[] = {
  {"pawl defaults", "the defaults of tasks and triggers, and the settings in force"},
  {"pawl defaults --json", "for a program"},
};

/* The text of a setting and its source; the store's is found out. */
static char *setting_in_force(PawlCall *call, PawlSettingId id, const char **ret_source, GError **error) {
  g_autofree char *url = NULL;
  if (id != PAWL_SETTING_DATABASE) return g_strdup(pawl_setting_text(call->settings, id, ret_source));
  return pawl_settings_store(call->settings, &url, ret_source, error) ? g_steal_pointer(&url) : NULL;
}

static json_t *json_defaults(void) {
  gsize n;
  const PawlDefault *rows = pawl_defaults(&n);
  json_t *array = json_array();
  for (gsize i = 0; i < n; i++) {
    json_t *object = json_object();
    pawl_json_set_text(object, "key", rows[i].key);
    pawl_json_set_text(object, "value", rows[i].value);
    pawl_json_set_text(object, "note", rows[i].note);
    json_array_append_new(array, object);
  }
  return array;
}

static gboolean add_settings(PawlCall *call, json_t *array, PawlTable *table, GError **error) {
  for (gsize i = 0; i < PAWL_N_SETTINGS; i++) {
    const PawlSetting *setting = &pawl_setting_table()[i];
    const char *source = NULL;
    if (setting->id == PAWL_SETTING_STORE) continue; /* another way to write the store */
    g_autoptr(GError) why = NULL;
    g_autofree char *value = setting_in_force(call, setting->id, &source, &why);
    if (why != NULL) {
      g_propagate_error(error, g_steal_pointer(&why));
      return FALSE;
    }
    if (array != NULL) {
      json_t *object = json_object();
      pawl_json_set_text(object, "flag", setting->name);
      pawl_json_set_text(object, "env", setting->env);
      pawl_json_set_text(object, "value", value);
      pawl_json_set_text(object, "source", source);
      pawl_json_set_text(object, "help", setting->help);
      json_array_append_new(array, object);
    } else {
      pawl_table_cellf(table, PAWL_COLOUR_BOLD, "--%s", setting->name);
      pawl_table_cell(table, PAWL_COLOUR_NONE, setting->env);
      pawl_table_cell(table, PAWL_COLOUR_NONE, value);
      pawl_table_cell(table, PAWL_COLOUR_DIM, source);
    }
  }
  return TRUE;
}

static void print_defaults(PawlOut *out) {
  static const PawlColumn columns[] = {{"KEY", FALSE, FALSE}, {"DEFAULT", FALSE, TRUE}, {"", FALSE, TRUE}};
  gsize n;
  const PawlDefault *rows = pawl_defaults(&n);
  PawlTable *table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  for (gsize i = 0; i < n; i++) {
    pawl_table_cell(table, PAWL_COLOUR_BOLD, rows[i].key);
    pawl_table_cell(table, PAWL_COLOUR_NONE, rows[i].value);
    pawl_table_cell(table, PAWL_COLOUR_DIM, rows[i].note);
  }
  pawl_table_print(table, out);
}

static int run(PawlCall *call, GError **error) {
  static const PawlColumn columns[] = {
    {"SETTING", FALSE, FALSE}, {"VARIABLE", FALSE, FALSE}, {"VALUE", FALSE, TRUE}, {"FROM", FALSE, FALSE}};
  if (pawl_out_json_wanted(call->out)) {
    g_autoptr(json_t) settings = json_array();
    if (!add_settings(call, settings, NULL, error)) return PAWL_EXIT_FAILED;
    json_t *object = json_object();
    json_object_set_new(object, "defaults", json_defaults());
    json_object_set(object, "settings", settings);
    pawl_out_json(call->out, object);
    return PAWL_EXIT_OK;
  }
  g_autoptr(PawlTable) table = pawl_table_new(columns, G_N_ELEMENTS(columns));
  if (!add_settings(call, NULL, table, error)) return PAWL_EXIT_FAILED;
  print_defaults(call->out);
  pawl_out_text(call->out, "\n");
  pawl_table_print(g_steal_pointer(&table), call->out);
  return PAWL_EXIT_OK;
}

const PawlVerb pawl_verb_defaults = {
  .name = "defaults",
  .group = "Operate",
  .summary = "Print every default, and the settings in force",
  .synopsis = "",
  .description =
    "What a file's `defaults:` say stands over the first table; jitter and offset are a trigger's own, and crontab.* is about import. A flag stands over a variable over the default in the second.",
  .json = "{defaults: [{key, value, note}], settings: [{flag, env, value, source, help}]}",
  PAWL_EXAMPLES(examples),
  .run = run,
};
